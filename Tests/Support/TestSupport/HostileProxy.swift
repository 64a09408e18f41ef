internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// Stands between clients and a server of this machine, and does to each request what a test says.
package final class HostileProxy: Sendable {
    /// What becomes of a request.
    package enum Mood: Sendable {
        /// It is passed on, and so is the answer.
        case pass
        /// The connection is reset before anything is read.
        case reset
        /// The server gets this part of it, and then nobody hears anything more.
        case cut(share: Double)
        /// The server does its work, and its answer never arrives.
        case swallow
        /// The server does its work, and of its answer the head and this part of the body arrive. (Foundation on Linux
        /// traps when an answer ends within its head.)
        case cutAnswer(share: Double)
        /// It is passed on after so many seconds.
        case delay(seconds: Double)
        /// The server never hears of it.
        case answer(status: Int, head: String = "")
    }

    private struct State {
        var isStopping = false
        var connections: [Int32] = []
        var workers: [Int: Worker] = [:]
        var begun = 0
        var requests = 0
        var counts: [String: Int] = [:]
    }

    package let port: UInt16
    private let listener: Int32
    private let server: @Sendable () -> UInt16
    private let mood: @Sendable (_ number: Int, _ size: Int) -> Mood
    private let state = Lock(State())

    /// Before the server at a port. The mood is asked for with the request's number, from 0, and its size, by several
    /// threads at once.
    package convenience init(
        before server: UInt16, mood: @escaping @Sendable (_ number: Int, _ size: Int) -> Mood
    ) throws {
        try self.init(beforeWhatever: { server }, mood: mood)
    }

    /// Before a server that moves to other ports; asked for anew with each request.
    package init(
        beforeWhatever server: @escaping @Sendable () -> UInt16,
        mood: @escaping @Sendable (_ number: Int, _ size: Int) -> Mood
    ) throws {
        self.server = server
        self.mood = mood
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 100) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw RawClient.Failure(description: "the proxy cannot listen: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        begin { self.accept() }
    }

    /// How many requests came.
    package var requests: Int { state.withLock { $0.requests } }

    /// How many requests came in each mood, by its name.
    package var counts: [String: Int] { state.withLock { $0.counts } }

    /// Ends all connections and takes no more.
    package func stop() {
        let workers = state.withLockNotifying { state in
            state.isStopping = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            return Array(state.workers.values)
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for worker in workers { worker.join() }
        close(listener)
    }

    private func begin(_ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.begun += 1
            state.workers[state.begun] = Worker(name: "proxy") { [number = state.begun] in
                body()
                // Nobody needs to wait for it any more, and of the next thousands neither.
                self.state.withLock { state in if !state.isStopping { state.workers[number] = nil } }
            }
        }
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 {
                if state.withLock({ $0.isStopping }) { return }
                continue
            }
            let isWelcome = state.withLock { state in
                if !state.isStopping { state.connections.append(connection) }
                return !state.isStopping
            }
            if isWelcome { begin { self.serve(connection) } } else { close(connection) }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { state in state.connections.removeAll { $0 == connection } }
            close(connection)
        }
        var unread: [UInt8] = []
        while let request = readRequest(connection, &unread) {
            let number = state.withLock { state in
                state.requests += 1
                return state.requests - 1
            }
            let mood = mood(number, request.count)
            state.withLock { $0.counts[mood.name, default: 0] += 1 }
            guard serve(request, mood, connection) else { return }
        }
    }

    /// Whether the connection lives on.
    private func serve(_ request: [UInt8], _ mood: Mood, _ connection: Int32) -> Bool {
        switch mood {
        case .reset:
            reset(connection)
            return false
        case .cut(let share):
            guard let client = try? RawClient(port: server()) else { return false }
            client.send(Array(request.prefix(Int(Double(request.count) * share))))
            client.reset()
            reset(connection)
            return false
        case .answer(let status, let head):
            let text = "HTTP/1.1 \(status) Hostile\r\nContent-Length: 2\r\n\(head.isEmpty ? "" : head + "\r\n")\r\nno"
            return write(Array(text.utf8), connection)
        case .pass, .swallow, .cutAnswer, .delay:
            if case .delay(let seconds) = mood {
                _ = state.wait(until: .after(seconds: seconds)) { $0.isStopping ? true : nil }
            }
            guard let answer = pass(request) else {
                reset(connection)
                return false
            }
            if case .swallow = mood { return false }
            if case .cutAnswer(let share) = mood {
                _ = write(answer.head + answer.body.prefix(Int(Double(answer.body.count) * share)), connection)
                return false
            }
            return write(answer.head + answer.body, connection)
        }
    }

    private func pass(_ request: [UInt8]) -> (head: [UInt8], body: [UInt8])? {
        guard let client = try? RawClient(port: server()), client.send(request),
            let answer = try? client.answer(within: 60)
        else { return nil }
        var text = "HTTP/1.1 \(answer.status) Passed\r\n"
        for (name, value) in answer.headers where name != "connection" { text += "\(name): \(value)\r\n" }
        return (Array((text + "\r\n").utf8), Array(answer.body.utf8))
    }

    /// Head and body of the next request, as they came.
    private func readRequest(_ connection: Int32, _ unread: inout [UInt8]) -> [UInt8]? {
        let blank = Data("\r\n\r\n".utf8)
        var needed: Int?
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if needed == nil, let end = Data(unread).range(of: blank)?.upperBound {
                let lines = String(decoding: unread[..<end], as: UTF8.self).lowercased().components(separatedBy: "\r\n")
                let field = lines.first { $0.hasPrefix("content-length:") }
                let length = field.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
                needed = end + length
            }
            if let needed, unread.count >= needed {
                defer { unread.removeFirst(needed) }
                return Array(unread[..<needed])
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            unread += buffer[..<count]
        }
    }

    private func write(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The next close is a reset.
    private func reset(_ connection: Int32) {
        var abruptly = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &abruptly, socklen_t(MemoryLayout<linger>.size))
    }
}

extension HostileProxy.Mood {
    fileprivate var name: String {
        switch self {
        case .pass: "pass"
        case .reset: "reset"
        case .cut: "cut"
        case .swallow: "swallow"
        case .cutAnswer: "cut answer"
        case .delay: "delay"
        case .answer(let status, _): "\(status)"
        }
    }
}
