internal import Accounts
internal import Envelopes
internal import EventLog
internal import Values

/// The part of an envelope that one writer stores.
struct EnvelopePart {
    let writer: Int
    let submission: Submission
    /// The memory that it takes until it is committed.
    let bytes: Int
}

extension DecodedEnvelope {
    /// Splits the envelope among the writers, each install's events to its own. The first part also has everything without an
    /// event of its own (rejections, drop reports).
    func parts(among commits: GroupCommit, bytes: Int, access: Access) -> [EnvelopePart] {
        let accepted = accepted
        if accepted.isEmpty, rejected.isEmpty, drops.isEmpty { return [] }
        let first = accepted.first.map { commits.writer(of: install(of: $0)) } ?? 0
        // Mostly all of it belongs to one install.
        if sources.count <= 1 || commits.writerCount == 1 {
            return [part(for: first, accepted, among: 1, bytes, access, tellsRest: true)]
        }
        var indexes = [[Int]](repeating: [], count: commits.writerCount)
        for index in accepted { indexes[commits.writer(of: install(of: index))].append(index) }
        let writers = indexes.indices.filter { !indexes[$0].isEmpty || $0 == first }
        return writers.map { writer in
            part(for: writer, indexes[writer], among: writers.count, bytes, access, tellsRest: writer == first)
        }
    }

    private func part(
        for writer: Int, _ indexes: [Int], among parts: Int, _ bytes: Int, _ access: Access, tellsRest: Bool
    ) -> EnvelopePart {
        let submission = Submission(
            app: access.app, key: access.key, envelope: self, indexes: indexes, tellsRest: tellsRest)
        // The body counts once, and each part adds its own memory.
        let copies = submission.rejected.reduce(0) { $0 + $1.raw.utf8.count }
        return EnvelopePart(
            writer: writer, submission: submission, bytes: bytes / parts + copies + submission.rows * 1024)
    }
}
