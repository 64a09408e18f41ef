internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// A client that does what it is told, byte for byte. One thread at a time.
package final class RawClient {
    private let descriptor: Int32
    private var unread: [UInt8] = []
    /// Whether the server has ended the connection.
    package private(set) var hasEnded = false

    /// One answer, or what came of it.
    package struct Answer: Sendable {
        package var status: Int
        package var headers: [(name: String, value: String)]
        package var body: String

        /// The value of a field.
        package subscript(name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
    }

    /// No answer, and why.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// To this machine.
    package init(port: UInt16, family: Int32 = AF_INET) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connected: Int32
        if family == AF_INET6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            connected = RawClient.connect(descriptor, &address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            connected = RawClient.connect(descriptor, &address)
        }
        guard connected == 0 else { throw Failure(description: "cannot connect: \(errno)") }
        limitSending()
    }

    /// To a Unix socket.
    package init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        guard RawClient.connect(descriptor, &address) == 0 else {
            throw Failure(description: "cannot connect: \(errno)")
        }
        limitSending()
    }

    deinit {
        close(descriptor)
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private func limitSending() {
        var minute = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &minute, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Makes the window small, so that an answer that is not read blocks the server soon.
    package func shrinkReceiveBuffer() {
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends it as it is.
    package func send(_ text: String) { send(Array(text.utf8)) }

    /// True if all of it was taken, within a minute that nothing moves.
    @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Says that no more will come.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next answer on the connection.
    package func answer(toHead: Bool = false, within seconds: Double = 10) throws -> Answer {
        let deadline = Deadline.after(seconds: seconds)
        let end = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while true {
            headEnd = unread.indices.first { unread[$0...].starts(with: end) }
            if headEnd != nil { break }
            try receive(until: deadline)
        }
        let head = String(decoding: unread[..<headEnd!], as: UTF8.self).components(separatedBy: "\r\n")
        unread.removeFirst(headEnd! + 4)
        let words = head[0].split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Failure(description: "no status line: \(head[0])")
        }
        var answer = Answer(status: status, headers: [], body: "")
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Failure(description: "no field: \(line)") }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            answer.headers.append((line[..<colon].lowercased(), value))
        }
        let length = status < 200 || toHead ? 0 : Int(answer["content-length"] ?? "0") ?? 0
        while unread.count < length { try receive(until: deadline) }
        answer.body = String(decoding: unread[..<length], as: UTF8.self)
        unread.removeFirst(length)
        return answer
    }

    /// Whether the server ends the connection in time, and everything it said was asked for.
    package func isEnded(within seconds: Double = 10) -> Bool {
        let deadline = Deadline.after(seconds: seconds)
        while !hasEnded {
            do { try receive(until: deadline) } catch { break }
            if !unread.isEmpty { return false }
        }
        return hasEnded
    }

    /// Whether something has come that was not asked for yet.
    package var hasUnread: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !unread.isEmpty || poll(&entry, 1, 0) > 0
    }

    /// Breaks the connection off, as a network does: the server gets a reset, not an end.
    package func reset() {
        var abruptly = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abruptly, socklen_t(MemoryLayout<linger>.size))
        // An unconnected address ends a connection at once, and the descriptor stays ours until `deinit`.
        var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        Glibc.connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func receive(until deadline: Deadline) throws {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, deadline.pollTimeout) > 0 else {
            throw Failure(description: "nothing came in time; so far: \(String(decoding: unread, as: UTF8.self))")
        }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            hasEnded = true
            throw Failure(
                description: count == 0
                    ? "the server closed; so far: \(String(decoding: unread, as: UTF8.self))" : "reset: \(errno)")
        }
        unread += buffer[..<count]
    }
}
