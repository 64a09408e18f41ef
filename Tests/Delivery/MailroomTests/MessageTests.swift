import Foundation
import ServiceRuntime
import Testing
import Values

@testable import Letters
@testable import Mailroom

@Suite("What a place gets")
struct MessageTests {
    private static let id = Values.UUID(high: 0x0123_4567_89ab_cdef, low: 0x8000_0000_0000_0001)

    private func letter(mayHaveArrived: Bool = false) -> Letter {
        Letter(
            id: Self.id, app: "shop", period: "2026-11-20", place: "p", attempts: 0, mayHaveArrived: mayHaveArrived)
    }

    private func contents(_ subject: String) -> Letter.Contents {
        Letter.Contents(
            subject: subject, summary: "\(subject)\n<!channel> *now* http://evil.example & co", text: "text",
            mail: "<h1 a>x</h1>",
            json: "{\"app\":\"shop\"}")
    }

    @Test(
        "no text gets out of its header",
        arguments: [
            "x\r\nBcc: thief@evil.example", "x\u{0}\u{2028}Bcc: a", "=?utf-8?Q?=0ABcc:_a?=",
            String(repeating: "ü€🛒", count: 60),
        ])
    func headers(subject: String) throws {
        let mail = MailMessage(
            letter(), contents(subject), from: "a@b.example", to: ["c@d.example"],
            at: Timestamp(microseconds: 1_795_212_005_120_000))
        let head = mail.text.components(separatedBy: "\n\n")[0].components(separatedBy: "\n")
        let names = head.filter { !$0.hasPrefix(" ") }.map { String($0.prefix { $0 != ":" }) }
        #expect(
            names == [
                "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "Bellwether-Delivery",
                "Bellwether-Repeat",
                "MIME-Version", "Content-Type",
            ])
        #expect(
            head.allSatisfy { line in line.utf8.count <= 78 && line.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
        #expect(mail.text.split(separator: "\n").allSatisfy { $0.utf8.count <= 78 } && !mail.text.contains("\r"))
        #expect(head.contains("Date: Fri, 20 Nov 2026 22:00:05 +0000"))
        let pieces = head.drop { !$0.hasPrefix("Subject: ") }.prefix { $0.hasPrefix("Subject: ") || $0.hasPrefix(" ") }
            .map { $0.hasPrefix(" ") ? String($0.dropFirst()) : String($0.dropFirst("Subject: ".count)) }
        let decoded = pieces.flatMap { piece in
            piece.hasPrefix("=?")
                ? Base64.decode(piece.dropFirst("=?utf-8?B?".count).dropLast(2)) ?? [] : Array(piece.utf8)
        }
        #expect(String(decoding: decoded, as: UTF8.self) == String(printable: subject))
    }

    @Test("a key of whsec_ and something else than base64 is none, and its bytes are those of the base64")
    func keys() throws {
        for text in ["whsec_", "whsec_!!!not base64", "whsec_QUJDREVGR0g"] { #expect(SignedMessage.Key(text) == nil) }
        func signature(_ key: String) throws -> String? {
            let key = try #require(SignedMessage.Key(key))
            let message = SignedMessage(letter(), contents("s"), key: key, at: Timestamp(microseconds: 0))
            return message.headers.first { $0.name == "webhook-signature" }?.value
        }
        #expect(try signature("whsec_QUJDRA==") == signature("ABCD") && signature("ABCD") != signature("whsec"))
    }

    @Test("a repeat says that it is one, in each kind of message, under the same id")
    func repeats() throws {
        let key = try #require(SignedMessage.Key("k"))
        let (first, second) = (letter(), letter(mayHaveArrived: true))
        let contents = contents("s")
        func mail(_ letter: Letter) -> String {
            MailMessage(letter, contents, from: "a@b", to: ["c@d"], at: Timestamp(microseconds: 0)).text
        }
        #expect(
            mail(first).contains("Message-ID: <\(Self.id)@b>\n")
                && mail(second).contains("Message-ID: <\(Self.id)@b>\n"))
        #expect(mail(first).contains("Bellwether-Repeat: no\n") && mail(second).contains("Bellwether-Repeat: yes\n"))
        for say in [ChatMessage.slack, ChatMessage.teams] {
            #expect(!say(first, contents).contains("before") && say(second, contents).contains("(\(Self.id))"))
        }
        func signed(_ letter: Letter) -> SignedMessage {
            SignedMessage(letter, contents, key: key, at: Timestamp(microseconds: 0))
        }
        #expect(
            signed(first).body
                == "{\"schema\":\"bellwether.delivery/1\",\"id\":\"\(Self.id)\",\"repeat\":false,\"app\":\"shop\"}")
        #expect(signed(second).body.contains("\"repeat\":true"))
    }

    @Test("names from outside are neither links nor mentions in a chat")
    func chat() throws {
        let slack = try #require(
            try JSONSerialization.jsonObject(with: Data(ChatMessage.slack(letter(), contents("s")).utf8))
                as? [String: Any])
        #expect(
            (slack["text"] as? String)?.contains("&lt;!\u{200B}channel&gt; *\u{200B}now*\u{200B} http:\u{200B}//")
                == true
                && slack["link_names"] as? Bool == false)
        let block = (slack["blocks"] as? [[String: Any]])?.first?["text"] as? [String: Any]
        #expect(block?["type"] as? String == "plain_text")
        #expect(ChatMessage.teams(letter(), contents("s")).contains("\"TextRun\""))
    }
}
