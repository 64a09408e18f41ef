internal import Console
internal import ServiceRuntime
internal import Values

/// What a backup's directory says of it: which database it holds, and up to where. It is written last, so a directory
/// without it is no finished backup.
struct BackupRecord {
    /// The copy of PostgreSQL's data directory, within the directory of the backup.
    static let copy = "data"
    static let file = "backup.txt"

    var database: String
    /// Who owns the tables.
    var owner: String
    /// Whether the database is an embedded one, which any command can run.
    var isEmbedded: Bool
    /// The backup has everything up to this batch, and what was committed while it was made.
    var position: Int64
    var begun: Timestamp
    /// The major version of the server.
    var postgres: Int

    var text: String {
        """
        A backup of a Bellwether database. To restore it: bellwether restore DIR --data NEWDIR --verify

        postgres: \(postgres)
        database: \(database)
        owner: \(owner)
        embedded: \(isEmbedded ? "yes" : "no")
        position: \(position)
        begun: \(begun)

        """
    }
}

extension BackupRecord {
    /// Reads the record of the backup in a directory.
    init(ofBackupIn directory: String) throws {
        var values: [Substring: Substring] = [:]
        for line in try Self.read(directory).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1].dropFirst() }
        }
        guard let database = values["database"], let owner = values["owner"],
            let position = values["position"].flatMap({ Int64($0) }),
            let begun = values["begun"].flatMap({ Timestamp(rfc3339: String($0)) }),
            let postgres = values["postgres"].flatMap({ Int($0) })
        else {
            throw Failure("\(Self.file) in '\(String(printable: directory))' cannot be read: is it of a newer version?")
        }
        self.init(
            database: String(database), owner: String(owner), isEmbedded: values["embedded"] == "yes",
            position: position, begun: begun, postgres: postgres)
    }

    private static func read(_ directory: String) throws -> String {
        let bytes: [UInt8]?
        do { bytes = try InputFile.read("\(directory)/\(file)", most: 4096) } catch {
            throw Failure(
                "'\(String(printable: directory))' holds no finished backup: "
                    + "bellwether backup writes \(file) at its end (\(error))"
            )
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
