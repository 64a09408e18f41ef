package import Letters
internal import ServiceRuntime
package import Values

/// A letter as a mail with a text and an HTML part.
package struct MailMessage: Sendable {
    package let text: String

    /// Whoever gets it twice can tell: it has the same `Message-ID`, and the second one says so.
    package init(
        _ letter: Letter, _ contents: Letter.Contents, from: String, to addresses: [String], at now: Timestamp
    ) {
        let boundary = "bellwether-\(letter.id)"
        let domain = from.split(separator: "@").last.map(String.init) ?? "localhost"
        let isRepeat = letter.mayHaveArrived
        // Addresses are plain (`PlacesFile`), and all else is encoded: nothing can end a line.
        let head = [
            "From: Bellwether <\(from)>", "To: \(addresses.joined(separator: ",\n "))",
            "Subject: \(Self.encoded(contents.subject))", "Date: \(Self.date(now))",
            "Message-ID: <\(letter.id)@\(domain)>", "Auto-Submitted: auto-generated",
            "Bellwether-Delivery: \(letter.id)", "Bellwether-Repeat: \(isRepeat ? "yes" : "no")", "MIME-Version: 1.0",
            "Content-Type: multipart/alternative;\n boundary=\"\(boundary)\"",
        ]
        let note = isRepeat ? Self.repeatNote + "\n\n" : ""
        let html =
            isRepeat
            ? contents.mail.replacing("<h1 ", with: "<p>\(Self.repeatNote)</p><h1 ", maxReplacements: 1) : contents.mail
        text =
            head.joined(separator: "\n") + "\n\n"
            + Self.part("text/plain", note + contents.text, boundary)
            + Self.part("text/html", html, boundary) + "--\(boundary)--\n"
    }

    static let repeatNote = "You may have got this report before: an earlier attempt to send it was interrupted."

    private static func part(_ type: String, _ text: String, _ boundary: String) -> String {
        let body = Base64.encode(Array(text.utf8))
        var lines: [Substring] = []
        var rest = body[...]
        while !rest.isEmpty {
            lines.append(rest.prefix(76))
            rest = rest.dropFirst(76)
        }
        return "--\(boundary)\nContent-Type: \(type); charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
            + lines.joined(separator: "\n") + "\n"
    }

    /// Words of a header (RFC 2047): as they are if they are plain, else in pieces of at most 75 characters.
    static func encoded(_ text: String) -> String {
        let text = String(printable: text)
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), text.utf8.count <= 68, !text.contains("=?") {
            return text
        }
        var (pieces, piece) = ([String](), [UInt8]())
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if piece.count + bytes.count > 42 {
                pieces.append(Base64.encode(piece))
                piece = []
            }
            piece += bytes
        }
        pieces.append(Base64.encode(piece))
        return pieces.map { "=?utf-8?B?\($0)?=" }.joined(separator: "\n ")
    }

    /// As RFC 5322 writes it.
    static func date(_ now: Timestamp) -> String {
        let text = now.description
        guard let day = Int(text.dropFirst(8).prefix(2)), let month = Int(text.dropFirst(5).prefix(2)),
            let year = Int(text.prefix(4)), let date = CivilDate(year: year, month: month, day: day)
        else { return text }
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekday = ((date.daysSince1970 + 3) % 7 + 7) % 7
        return "\(days[weekday]), \(day) \(months[month - 1]) \(year) \(text.dropFirst(11).prefix(8)) +0000"
    }
}
