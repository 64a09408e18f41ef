internal import Glibc

/// A text that is compared by its bytes. Swift's own strings are equal if they look the same, so two spellings of "é"
/// would become one word, and the order of arrival would decide which.
struct Word: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Word, right: Word) -> Bool {
        unsafe left.withBytes { left in
            unsafe right.withBytes { right in
                guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                    return left.count == right.count
                }
                return unsafe memcmp(start, other, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        unsafe withBytes { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = unsafe text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return unsafe Array(text.utf8).withUnsafeBufferPointer(body)
    }
}
