internal import Glibc

/// The last error of the operating system in this thread.
struct SystemError: Error, Hashable, CustomStringConvertible {
    let code: Int32

    static var last: SystemError { SystemError(code: errno) }

    var description: String {
        var text = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
        return String(cText: text)
    }
}
