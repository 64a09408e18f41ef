internal import Glibc
internal import ServiceRuntime

/// Hands a mail to the system's `sendmail`: Postfix, Exim, msmtp and others have it.
struct Sendmail {
    let path: String
    let from: String
    let addresses: [String]

    private static let seconds = 60.0

    /// The recipients are arguments, so that no header decides who gets it.
    func send(_ message: String) -> Outcome {
        // A pair of sockets carries the mail there and its words back.
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return .refused("no room for \(path): \(unsafe String(cString: strerror(errno)))", endsPlace: true)
        }
        let (ours, theirs) = (ends[0], ends[1])
        defer { close(ours) }
        var start = ChildStart([path, "-i", "-f", from, "--"] + addresses, environment: Self.environment)
        (start.input, start.output) = (theirs, theirs)
        let process: pid_t
        do throws(ChildStart.Failure) {
            defer { close(theirs) }
            process = try start.run(path)
        } catch {
            return .refused(
                "\(path) cannot be started: \(unsafe String(cString: strerror(error.code)))", endsPlace: true)
        }
        var talk = Talk(socket: ours, process: process, message: Array(message.utf8))
        guard let status = talk.untilExit(by: .after(seconds: Self.seconds)) else {
            kill(-process, SIGKILL)
            while waitpid(process, nil, 0) < 0, errno == EINTR {}
            return .unanswered("\(path) did not end within \(Int(Self.seconds)) s")
        }
        return judge(status, Self.words(talk.said))
    }

    private func judge(_ status: Int32, _ said: String) -> Outcome {
        if status == 0 { return .taken }
        let words = said.isEmpty ? "" : ": \(said)"
        // A signal may have come after the mail had left.
        return status >= 128
            ? .unanswered("\(path) was ended by signal \(status - 128)\(words)")
            : .refused("\(path) ended with \(status)\(words)", endsPlace: true)
    }

    /// What it says for itself, in one line.
    private static func words(_ bytes: [UInt8]) -> String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        return String(String(printable: lines.joined(separator: "; ")).prefix(300))
    }

    /// It gets no secret of ours.
    private static var environment: [String] {
        var variables = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"]
        for name in ["HOME", "USER", "LOGNAME"] {
            guard let value = unsafe getenv(name) else { continue }
            variables.append("\(name)=\(unsafe String(cString: value))")
        }
        return variables
    }
}

/// What goes to another program and comes from it, until it ends.
private struct Talk {
    let socket: Int32
    let process: pid_t
    private var rest: ArraySlice<UInt8>
    /// The beginning of what it says: it may say more than anybody reads.
    private(set) var said: [UInt8] = []

    private static let mostSaid = 16 << 10

    init(socket: Int32, process: pid_t, message: [UInt8]) {
        (self.socket, self.process, rest) = (socket, process, message[...])
    }

    /// Its exit code, or 128 + n if signal n ended it; nil if it has not ended by then. It may leave another process
    /// that holds its output, as mail servers do: that one is not waited for.
    mutating func untilExit(by deadline: Deadline) -> Int32? {
        while true {
            let hasEnded = exitStatus()
            while receive() {}
            if let hasEnded { return hasEnded }
            while send() {}
            guard !deadline.hasPassed else { return nil }
            let events = Int16(POLLIN) | (rest.isEmpty ? 0 : Int16(POLLOUT))
            var poll = pollfd(fd: socket, events: events, revents: 0)
            unsafe Glibc.poll(&poll, 1, 20)
            // It has closed its side, and ends soon.
            if poll.revents & Int16(POLLHUP) != 0 { usleep(20_000) }
        }
    }

    /// Sends a part of the message, if there is room for it. After the last one it reads the end.
    private mutating func send() -> Bool {
        guard !rest.isEmpty else { return false }
        let count = unsafe rest.withUnsafeBytes {
            unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        // A program that reads no further says why in its exit code.
        rest = count < 0 ? [] : rest.dropFirst(count)
        if rest.isEmpty { shutdown(socket, Int32(SHUT_WR)) }
        return true
    }

    private mutating func receive() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(socket, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return false }
        if said.count < Self.mostSaid { said += chunk[..<count] }
        return said.count < Self.mostSaid
    }

    private func exitStatus() -> Int32? {
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, WNOHANG) == process else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
