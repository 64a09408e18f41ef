import Foundation
import Testing

@testable import ServiceRuntime

@Suite("The log of a service")
struct ServiceLogTests {
    /// What is at the other end of the log, and may let it wait.
    private final class Reader: Sendable {
        private let state = Lock((text: "", isReading: true, calls: 0))

        func take(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
            state.withLockNotifying { $0.calls += 1 }
            _ = state.wait(until: .never) { state in
                guard state.isReading else { return Bool?.none }
                state.text += String(decoding: bytes, as: UTF8.self)
                return true
            }
            return []
        }

        func reads(_ isReading: Bool) { state.withLockNotifying { $0.isReading = isReading } }

        func waitForCall() { _ = state.wait(until: .after(seconds: 30)) { $0.calls > 0 ? true : nil } }

        var lines: [[String: String]] {
            state.withLock { $0.text }.split(separator: "\n").compactMap { line in
                try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            }
        }
    }

    @Test("a client that has one line written a thousand times fills no disk: most are counted, and others still come")
    func flood() {
        let reader = Reader()
        let log = ServiceLog(style: .json, write: reader.take, clock: { Deadline(nanoseconds: 1) })
        log.start()
        for number in 0..<1000 { log.log.warning("a flood", ["number": "\(number)"]) }
        log.log.error("something else")
        log.stop(within: 30)
        let lines = reader.lines
        let flood = lines.filter { $0["message"] == "a flood" }
        #expect(flood.count == LogSampler.linesInWindow + 1)
        #expect(flood.first?["number"] == "0")
        #expect(flood.last?["left out"] == "\(1000 - LogSampler.linesInWindow)" && flood.last?["level"] == "warning")
        #expect(lines.contains { $0["message"] == "something else" })
        #expect(log.leftOut == ["repeated": 1000 - LogSampler.linesInWindow, "unread": 0, "unwritten": 0])
    }

    @Test("what somebody may have to account for is written each time, whatever else is left out")
    func records() {
        let reader = Reader()
        let log = ServiceLog(style: .json, write: reader.take, clock: { Deadline(nanoseconds: 1) })
        log.start()
        for number in 0..<100 {
            log.log.info("a flood")
            log.log.record("read", ["number": "\(number)"])
        }
        log.stop(within: 30)
        #expect(
            reader.lines.filter { $0["message"] == "read" }.compactMap { $0["number"] } == (0..<100).map { "\($0)" })
        #expect(log.leftOut == ["repeated": 100 - LogSampler.linesInWindow, "unread": 0, "unwritten": 0])
    }

    @Test("lines that a full disk does not take are counted, and the next ones are tried")
    func unwritten() {
        let (reader, calls) = (Reader(), Lock(0))
        let log = ServiceLog(style: .json) { bytes in
            let call = calls.withLockNotifying { calls in
                calls += 1
                return calls
            }
            return call == 1 ? bytes.dropFirst(3) : reader.take(bytes)
        }
        log.start()
        log.log.info("lost")
        _ = calls.wait(until: .after(seconds: 30)) { $0 > 0 ? true : nil }
        log.log.info("written")
        log.stop(within: 30)
        #expect(reader.lines.compactMap { $0["message"] } == ["written"] && log.leftOut["unwritten"] == 1)
    }

    @Test("nobody reads: whoever logs goes on, what waits is bounded, and when it is read the log says what it lacks")
    func unread() {
        let reader = Reader()
        reader.reads(false)
        let log = ServiceLog(style: .json, write: reader.take)
        log.start()
        log.log.info("first")
        reader.waitForCall()
        // As from many places in the code.
        for number in 0..<20_000 {
            log.log.info(String(repeating: "x", count: 200), ["number": "\(number)"], line: UInt(number))
        }
        let unread = log.leftOut["unread"] ?? 0
        // A megabyte of some 280 bytes each.
        #expect((15_000..<17_500).contains(unread))
        reader.reads(true)
        log.stop(within: 30)
        let lines = reader.lines
        #expect(lines.first?["message"] == "first")
        #expect(lines.filter { $0["number"] != nil }.count == 20_000 - unread)
        #expect(lines.contains { $0["left out"] == "\(unread)" })
    }

    @Test("a log that nobody reads does not keep a process that ends")
    func end() {
        let reader = Reader()
        reader.reads(false)
        let log = ServiceLog(style: .json, write: reader.take)
        log.start()
        log.log.info("first")
        reader.waitForCall()
        // It returns although nobody reads yet.
        log.stop(within: 0.2)
        reader.reads(true)
    }

    @Test("each kind of line has a window of its own, and what a window left out is told once, when it has ended")
    func windows() {
        let sampler = LogSampler()
        let (one, other) = (LogSampler.Kind(file: "a", line: 1), LogSampler.Kind(file: "a", line: 2))
        func time(_ seconds: Double) -> Deadline { Deadline(nanoseconds: Int64(seconds * 1e9)) }
        for _ in 0..<LogSampler.linesInWindow {
            #expect(sampler.admit(one, .info, "m", at: time(5)).isWritten)
        }
        #expect(!sampler.admit(one, .info, "m", at: time(6)).isWritten)
        #expect(!sampler.admit(one, .info, "n", at: time(14.9)).isWritten)
        #expect(sampler.admit(other, .info, "m", at: time(6)).isWritten)
        #expect(sampler.settle(all: false, at: time(14.9)).isEmpty)
        let next = sampler.admit(one, .info, "o", at: time(15))
        #expect(next.isWritten && next.before?.count == 2 && next.before?.message == "m")
        #expect(sampler.settle(all: false, at: time(40)).isEmpty)
        for _ in 0...LogSampler.linesInWindow { _ = sampler.admit(one, .info, "m", at: time(50)) }
        #expect(sampler.settle(all: false, at: time(59)).isEmpty)
        #expect(sampler.settle(all: false, at: time(60)).map(\.count) == [1])
        #expect(sampler.settle(all: true, at: time(60)).isEmpty && sampler.total == 3)
    }

    @Test("a line has an end, however long what a stranger sent")
    func long() {
        let lines = Lock([String]())
        let log = Log(style: .json) { line in lines.withLock { $0.append(line) } }
        log.info(String(repeating: "é", count: 100_000), ["value": String(repeating: "x", count: 1 << 20)])
        #expect(lines.withLock { $0 }[0].utf8.count < 9_000)
    }
}
