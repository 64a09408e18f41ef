import Compression
import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Random conversations over HTTP")
struct ConversationFaultTests {
    /// One request and what it may be answered with.
    private struct Request {
        var bytes: [UInt8]
        var statuses: ClosedRange<Int>
        /// The events and sends that are stored if it is answered with 200.
        var events: [String] = []
        var sends: [String] = []
        var isHead = false
        /// Whether the server cannot know where it ends, and so ends the connection.
        var isLast = false
    }

    /// What all conversations came to.
    private struct Count {
        var conversations = 0
        var requests = 0
        var cut = 0
        var sent: Set<String> = []
        var acknowledged: Set<String> = []
        var acknowledgedSends: Set<String> = []
        var faults: [String] = []

        var isEnough: Bool { acknowledged.count > 20 && cut > 5 }
    }

    /// One app's two keys.
    private struct Keys {
        let write: String
        let server: String
    }

    @Test("each complete request has one answer, in order, whatever is pipelined, cut, in pieces or nonsense beside it")
    func random() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let server = try shop.bellwether.trusted("app", "key", "add", shop.app.slug, "--server").dropLast()
        let keys = Keys(write: shop.app.secret, server: String(server))
        let seed = UInt64.random(in: .min ... .max)
        let length = FaultLength.seconds(3)
        let (end, latest) = (Deadline.after(seconds: length), Deadline.after(seconds: length + 120))
        let count = Lock(Count())
        try together(6) { worker in
            var numbers = SeededNumbers(seed: seed &+ UInt64(worker))
            // On a busy machine a moment may be too short for enough of them.
            while !latest.hasPassed, !end.hasPassed || !count.withLock(\.isEnough) {
                let talk = numbers.next()
                do { try converse(talk, service, keys, count) } catch {
                    count.withLock { $0.faults.append("conversation \(talk): \(error)") }
                }
                if count.withLock({ $0.faults.count > 5 }) { break }
            }
        }
        let all = count.withLock { $0 }
        #expect(all.faults == [], "seed \(seed)")
        #expect(all.isEnough)
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: shop.app.secret).status == 200)
        let stored = Set(try shop.database.column("SELECT event_id::text FROM log.event", of: String.self))
        #expect(all.acknowledged.subtracting(stored).isEmpty, "acknowledged and not stored")
        #expect(stored.subtracting(all.sent).count == 1, "stored and not sent")
        #expect(try shop.database.value("SELECT count(*) FROM log.event", as: Int64.self) == Int64(stored.count))
        let told = Set(try shop.database.column("SELECT send_id FROM analytics.sends", of: String.self))
        #expect(all.acknowledgedSends.subtracting(told).isEmpty, "a send acknowledged and not stored")
        #expect(told.subtracting(all.sent).isEmpty, "a send stored and not sent")
        try Laws.checkFunnels(url: shop.database.url())
        #expect(!service.log.contains(#""level":"error""#))
        #expect(try service.stop() == 0)
        FaultLength.report(
            "\(all.conversations) conversations (\(all.cut) cut) with \(all.requests) requests: \(all.acknowledged.count) events and \(all.acknowledgedSends.count) sends acknowledged, \(stored.count) and \(told.count) stored, none lost or doubled"
        )
    }

    private func converse(_ seed: UInt64, _ service: RunningService, _ keys: Keys, _ count: Lock<Count>) throws {
        var numbers = SeededNumbers(seed: seed)
        var requests: [Request] = []
        for _ in 0..<Int.random(in: 1...12, using: &numbers) {
            let request = make(keys, requests, &numbers)
            requests.append(request)
            if request.isLast { break }
        }
        let bytes = requests.flatMap(\.bytes)
        let isCut = Int.random(in: 0..<5, using: &numbers) == 0
        let length = isCut ? Int.random(in: 0..<bytes.count, using: &numbers) : bytes.count
        count.withLock { count in
            count.conversations += 1
            count.cut += isCut ? 1 : 0
            count.sent.formUnion(requests.flatMap { $0.events + $0.sends })
        }
        let client = try RawClient(port: service.port)
        var sent = 0
        while sent < length {
            // Many small pieces would only take long.
            let piece = min(
                length - sent,
                [1, 7, 100, 5000].randomElement(using: &numbers)! * Int.random(in: 1...4, using: &numbers))
            // The server may have ended the connection at the first nonsense.
            guard client.send(Array(bytes[sent..<sent + piece])) else { break }
            sent += piece
        }
        if isCut, Bool.random(using: &numbers) { return client.reset() }
        if isCut { client.finishSending() }
        var (complete, isOver) = (0, isCut || requests.last?.isLast == true)
        for (place, request) in requests.enumerated() {
            complete += request.bytes.count
            guard complete <= length || request.isLast else { break }
            // Of a last request that was cut, the server may not have seen what is wrong with it.
            if isCut, complete > length { break }
            var answer = try client.answer(toHead: request.isHead, within: 60)
            while answer.status == 100 { answer = try client.answer(toHead: request.isHead, within: 60) }
            let isRight = request.statuses.contains(answer.status)
            count.withLock { count in
                count.requests += 1
                if answer.status == 200 {
                    count.acknowledged.formUnion(request.events)
                    count.acknowledgedSends.formUnion(request.sends)
                }
                if !isRight {
                    let text = String(decoding: request.bytes.prefix(300), as: UTF8.self)
                    count.faults.append("conversation \(seed), request \(place): \(answer) to \(text)")
                }
            }
            if !isRight { return }
            // It may refuse a request without reading its body, and says then that it goes.
            if answer["connection"] == "close" {
                isOver = true
                break
            }
        }
        // What was cut may get an answer, too: 408, 400 or that the body may come.
        if isCut { while (try? client.answer(within: 60)) != nil {} }
        if isOver, !client.isEnded(within: 60) {
            count.withLock {
                $0.faults.append("conversation \(seed): the connection stays open, or there is one answer more")
            }
        }
    }

    private func make(_ keys: Keys, _ before: [Request], _ numbers: inout SeededNumbers) -> Request {
        func plain(_ text: String, _ status: Int, isHead: Bool = false) -> Request {
            Request(bytes: Array(text.utf8), statuses: status...status, isHead: isHead)
        }
        let key = keys.write
        switch Int.random(in: 0..<24, using: &numbers) {
        case 0: return plain("GET /healthz HTTP/1.1\r\nHost: b\r\n\r\n", 200)
        case 1: return plain("HEAD /healthz HTTP/1.1\r\nHost: b\r\n\r\n", 200, isHead: true)
        case 2:
            return plain(
                "GET /nothing?x=%00 HTTP/1.1\r\nHost: b\r\nX: \(String(repeating: "y", count: 900))\r\n\r\n", 404)
        case 3: return plain("DELETE /v1/events HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\nabc", 405)
        case 4: return post("{\"events\":[", "Bearer \(key)", 400, &numbers)
        case 5: return post("{}", "Bearer bww_nobody", 401, &numbers)
        case 6: return post("{\"events\":{}}", "Bearer \(key)", 400, &numbers)
        case 7, 8:
            let nonsense = [
                "GARBAGE\r\n\r\n", "GET /healthz HTTP/9.9\r\nHost: b\r\n\r\n",
                "GET  /healthz HTTP/1.1\r\nHost: b\r\n\r\n",
                "POST /v1/events HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
                "POST /v1/events HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: b\r\nA\u{0}: c\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: b\r\nHost: c\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: b\r\n A: folded\r\n\r\n",
            ]
            return Request(
                bytes: Array(nonsense.randomElement(using: &numbers)!.utf8), statuses: 400...505, isLast: true)
        case 9 where before.contains { !$0.events.isEmpty && $0.statuses == 200...200 }:
            return before.last { !$0.events.isEmpty }!
        case 10: return post(Wire.envelope(Wire.event()), to: "/v1/events?dry_run=true", "Bearer \(key)", 200, &numbers)
        case 11, 12:
            let ids = (0..<Int.random(in: 1...3, using: &numbers)).map { _ in Wire.id(using: &numbers) }
            let sends = ids.map { #"{"id":"\#($0)","campaign":"K0","recipients":1}"# }
            var request = post(
                #"{"sends":[\#(sends.joined(separator: ","))]}"#, to: "/v1/sends", "Bearer \(keys.server)", 200,
                &numbers)
            request.sends = ids
            return request
        case 13:
            let title = Int.random(in: 0..<9, using: &numbers)
            let body = #"{"categories":[{"id":"C0","actions":[{"id":"GO","titles":{"en":"Go \#(title)"}}]}]}"#
            return post(body, method: "PUT", to: "/v1/categories", "Bearer \(keys.server)", 200, &numbers)
        default:
            let ids = (0..<Int.random(in: 1...3, using: &numbers)).map { _ in Wire.id(using: &numbers) }
            let install = Wire.id(using: &numbers)
            var events: [String] = []
            for id in ids { events.append(AnyEvent.make(id: id, more: "", using: &numbers)) }
            var request = post(Wire.envelope(install: install, events), "Bearer \(key)", 200, &numbers)
            request.events = ids
            return request
        }
    }

    /// A request with this body, in one of the ways in which a body may be sent.
    private func post(
        _ body: String, method: String = "POST", to path: String = "/v1/events", _ authorization: String, _ status: Int,
        _ numbers: inout SeededNumbers
    ) -> Request {
        var (body, head) = (
            Array(body.utf8),
            "\(method) \(path) HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nAuthorization: \(authorization)\r\n"
        )
        if Int.random(in: 0..<3, using: &numbers) == 0 {
            body = gzip(body)
            head += "Content-Encoding: gzip\r\n"
        }
        if Int.random(in: 0..<8, using: &numbers) == 0 { head += "Expect: 100-continue\r\n" }
        guard Int.random(in: 0..<3, using: &numbers) == 0 else {
            return Request(
                bytes: Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body, statuses: status...status)
        }
        var bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
        while !body.isEmpty {
            let size = min(body.count, Int.random(in: 1...400, using: &numbers))
            let more = Int.random(in: 0..<6, using: &numbers) == 0 ? ";x=\"y\"" : ""
            bytes += Array("\(String(size, radix: 16))\(more)\r\n".utf8) + body.prefix(size) + Array("\r\n".utf8)
            body.removeFirst(size)
        }
        let trailer = Int.random(in: 0..<6, using: &numbers) == 0 ? "T: u\r\n" : ""
        return Request(bytes: bytes + Array("0\r\n\(trailer)\r\n".utf8), statuses: status...status)
    }
}
