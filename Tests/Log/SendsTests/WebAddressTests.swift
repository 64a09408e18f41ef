import Foundation
import Testing

@testable import Sends

@Suite("What is a URL with a scheme")
struct WebAddressTests {
    private static let texts = [
        "https://example.com/1.jpg", "http://example.com", "myapp://sale", "mailto:a@b.c", "a:", "a:b", "A+b-c.1:x", "",
        "example.com/sale", "/1.jpg", "//example.com/1.jpg", "not a url with spaces", "1https://example.com", ":x", ":",
        "::x",
        "https//example.com", "https:/example.com", "https:example.com", "https://", "https:///1.jpg",
        "https://example.com/a b.jpg", "https://example.com/ä.jpg", "https://exämple.com/1.jpg", "ht tps://example.com",
        "https://example.com:443/1.jpg", "https://example.com:/1.jpg", "https://example.com:4a3/1.jpg",
        "https://user:word@example.com/1.jpg", "https://[::1]/1.jpg", "https://[::1]:80/1.jpg",
        "https://example.com/%zz.jpg", "https://example.com/?a=b:c", "https://example.com?q=1:2@3", "schön://sale",
        "my_app://sale", "https://example.com/<x>", "data:image/png;base64,AA==", "file:///x.jpg", "?a:b", "#a:b",
        "a/b:c", "https://example.com/\u{1F600}.jpg", "tel:+49 30", "-a:b", "https://a@b@c/1.jpg",
    ]

    @Test("what Apple's Foundation takes for one is one, and nothing else", arguments: texts)
    func asFoundation(text: String) {
        #expect(WebAddress.hasScheme(text) == (URL(string: text)?.scheme != nil))
    }
}
