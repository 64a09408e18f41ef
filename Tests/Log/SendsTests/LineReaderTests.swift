import Foundation
import TestSupport
import Testing

@testable import Sends

@Suite("Reading lines")
struct LineReaderTests {
    private func lines(_ text: String, longest: Int = 10, chunk: Int) throws -> [LineReader.Line] {
        let directory = TemporaryDirectory()
        try text.write(toFile: directory("lines"), atomically: false, encoding: .utf8)
        let file = try #require(FileHandle(forReadingAtPath: directory("lines")))
        let reader = LineReader(descriptor: file.fileDescriptor, longest: longest, chunk: chunk)
        var lines: [LineReader.Line] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    private func bytes(_ texts: String...) -> [LineReader.Line] { texts.map { .bytes(Array($0.utf8)) } }

    @Test(
        "lines are the same however the file comes in, with either line end or none at the last",
        arguments: [1, 2, 3, 7, 64])
    func chunks(chunk: Int) throws {
        #expect(try lines("one\ntwo\r\n\nthree", chunk: chunk) == bytes("one", "two", "", "three"))
        #expect(try lines("", chunk: chunk) == [])
        #expect(try lines("\n", chunk: chunk) == bytes(""))
        #expect(try lines("1234567890\n", chunk: chunk) == bytes("1234567890"))
    }

    @Test("a line that is too long is passed over, and the next one is read", arguments: [1, 4, 64])
    func tooLong(chunk: Int) throws {
        #expect(
            try lines("12345678901\na\n123456789012345\n", chunk: chunk) == [.tooLong] + bytes("a") + [.tooLong])
        #expect(try lines("a\n12345678901", chunk: chunk) == bytes("a") + [.tooLong])
    }

    @Test("what cannot be read says why")
    func unreadable() {
        let failure = #expect(throws: LineReader.Failure.self) {
            _ = try LineReader(descriptor: -1, longest: 10).next()
        }
        #expect(failure?.reason == "Bad file descriptor")
    }
}
