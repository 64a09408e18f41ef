/// Everything that can be read from a segment's bytes, even if they are damaged.
struct SegmentContents {
    /// The readable records in file order, which is the order of their seqs.
    private(set) var records: [Record] = []
    /// The greatest seq that was assigned here, as far as it can be read; records of other versions count too.
    private(set) var lastSeq: Int64?
    /// The greatest reading of the age clock.
    private(set) var lastAge: Int64 = 0
    /// How many records after the last complete one are damaged, as far as their beginnings tell.
    private(set) var damagedAtEnd: Int64 = 0
    /// Whether the last byte ends a complete record. If not, a process died while writing, or something damaged it.
    var endsWhole: Bool { damagedAtEnd == 0 }

    init(_ bytes: [UInt8]) {
        var place = 0
        while place < bytes.count {
            guard let end = SegmentContents.end(ofRecordAt: place, in: bytes) else {
                damagedAtEnd += 1
                place = SegmentContents.nextMark(in: bytes, after: place)
                continue
            }
            damagedAtEnd = 0
            take(bytes, place, end)
            place = end
        }
    }

    private mutating func take(_ bytes: [UInt8], _ start: Int, _ end: Int) {
        let seq: Int64 = bytes.little(at: start + Record.prefix)
        // A copied file may have a record twice: take the first.
        guard (1...Int64(1) << 53).contains(seq), seq > lastSeq ?? 0 else { return }
        lastSeq = seq
        guard bytes[start + 3] == Record.version, end - start >= Record.header else { return }
        let sourceLength = Int(bytes.little(at: start + 36, as: UInt32.self))
        let body = start + Record.header
        guard sourceLength <= end - body else { return }
        let age: Int64 = bytes.little(at: start + 20)
        let time: Int64 = bytes.little(at: start + 28)
        guard age >= 0, Moment.possible.contains(age), Moment.possible.contains(time) else { return }
        lastAge = max(lastAge, age)
        records.append(
            Record(
                seq: seq, age: age, time: time, source: bytes[body..<(body + sourceLength)],
                event: bytes[(body + sourceLength)..<end]))
    }

    /// The end of the record that begins at `start`, if a complete one does.
    private static func end(ofRecordAt start: Int, in bytes: [UInt8]) -> Int? {
        guard bytes.count - start >= Record.prefix + 8, bytes[start...].starts(with: Record.mark) else { return nil }
        let length = Int(bytes.little(at: start + 4, as: UInt32.self))
        let first = start + Record.prefix
        guard (8...(Record.longestBody + Record.header)).contains(length), length <= bytes.count - first else {
            return nil
        }
        let sum: UInt32 = bytes.little(at: start + 8)
        return Checksum.of(bytes[first..<(first + length)]) == sum ? first + length : nil
    }

    private static func nextMark(in bytes: [UInt8], after start: Int) -> Int {
        var place = start + 1
        while place < bytes.count {
            if bytes[place] == Record.mark[0], bytes[place...].starts(with: Record.mark) { return place }
            place += 1
        }
        return bytes.count
    }
}
