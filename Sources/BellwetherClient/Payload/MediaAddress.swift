internal import Foundation

/// The address of a push's picture, film or sound, as far as it matters.
enum MediaAddress: Sendable, Hashable {
    /// The payload names none.
    case none
    /// It names one that no request can be made of.
    case invalid
    case url(URL)

    init(_ text: String?) {
        guard let text, !text.isEmpty else {
            self = .none
            return
        }
        guard let url = URL(string: text), url.scheme != nil else {
            self = .invalid
            return
        }
        self = .url(url)
    }
}
