import Postgres
import Telemetry
import TestSupport
import Testing

@testable import EventLog

@Suite("Where the log stores the members of an event")
struct EventLogStorageTests {
    @Test("what the catalogue says of storage is so: columns are there, bits overlap nowhere, words fit")
    func storage() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        func columns(_ table: String) throws -> [String] {
            try database.column(
                """
                SELECT attname::text FROM pg_attribute WHERE attrelid = \("log." + table)::text::regclass AND attnum > 0
                ORDER BY attnum
                """)
        }
        let (event, device, context) = (try columns("event"), try columns("device"), try columns("context"))
        #expect(EventRow.columns == event)
        var taken: [String: Int] = [:]
        for member in Member.allCases {
            let declaration = member.declaration
            for type in EventType.allCases where declaration.types.contains(type) {
                func take(_ place: String, _ mask: Int) {
                    #expect(taken[place, default: 0] & mask == 0, "\(member) stands where another does")
                    taken[place, default: 0] |= mask
                }
                switch declaration.storage {
                case .none: if case .object = declaration.kind {} else { Issue.record("\(member) is stored nowhere") }
                case .column(let column): #expect(event.contains(column), "\(member)")
                case .key(let column): #expect(event.contains(column) || column == "fcm_message_id", "\(member)")
                case .common(let bits), .own(let bits):
                    #expect(bits.first + bits.count < 32)
                    let isOwn = if case .own = declaration.storage { true } else { false }
                    take("\(isOwn ? "own" : "codes") \(type)", ((1 << bits.count) - 1) << bits.first)
                    switch declaration.kind {
                    case .codes(let words): #expect(words.count < bits.count, "\(member)")
                    case .boolean: #expect(bits.count == 2, "\(member)")
                    case .integer(let range): #expect(range.count < 1 << bits.count, "\(member)")
                    default: break
                    }
                case .device: #expect(device.contains(declaration.column ?? ""), "\(member)")
                case .context: #expect(context.contains(declaration.column ?? ""), "\(member)")
                case .word(let place): take("word_\(place) \(type)", 1)
                case .amount(let place): take("amount_\(place) \(type)", 1)
                case .rare: take("rare \(declaration.column ?? "") \(type)", 1)
                }
            }
        }
        // In the order in which the program writes their members.
        #expect(
            Array(device.dropFirst(2))
                == (Combination.deviceWords.map(\.member) + Member.allCases.filter(\.isCodeOfDevice)).map {
                    $0.declaration.column
                })
        #expect(Array(context.dropFirst(2)) == Combination.contextWords.map { $0.member.declaration.column })
    }
}

extension Member {
    /// Whether its code stands with the words of its device.
    fileprivate var isCodeOfDevice: Bool {
        if case (.device, .code) = (declaration.storage, declaration.kind) { true } else { false }
    }
}
