import Foundation
import TestSupport

/// Chromium without a window, as Debian has it.
enum Browser {
    /// What the reader has chosen.
    enum Scheme: Int, CaseIterable { case dark, light }

    /// What `look.html` saw of a page.
    struct Sight: Decodable {
        let width: Int
        /// As wide as the page with what does not fit in it.
        let scrollWidth: Int
        let background: String
        /// What a script in the page did to its window; nil when none has run.
        let obeyed: String?
        /// Boxes that hold more than fits, and how many of them cannot be scrolled.
        let wideBoxes: Int
        let stuckBoxes: Int
        /// Texts, and those of them that do not stand out from what is behind them.
        let texts: Int
        let faint: [String]
        /// What a page that everybody can read must have, and this one has not.
        let faults: [String]
        /// Elements that the page should not have.
        let strangers: [String]
        let brokenReferences: [String]
        let title: String
        let words: String
    }

    /// A document, and how wide the frame is that it is opened in.
    struct Frame {
        let document: String
        var width = 390
    }

    /// Opens a document in a frame and looks at it with a script of ours, outside.
    static func look(at document: String, width: Int = 390, scheme: Scheme = .light) throws -> Sight {
        try look(at: [Frame(document: document, width: width)], scheme: scheme)[0]
    }

    /// Opens documents in frames, and looks at each.
    static func look(at frames: [Frame], scheme: Scheme = .light) throws -> [Sight] {
        let directory = TemporaryDirectory()
        let opened = frames.map { frame in
            let quoted = frame.document.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
            return "<iframe width=\"\(frame.width)\" height=\"800\" srcdoc=\"\(quoted)\"></iframe>\n"
        }
        let page = try String(contentsOfFile: script, encoding: .utf8).replacing("FRAMES", with: opened.joined())
        try page.write(toFile: directory("page.html"), atomically: false, encoding: .utf8)
        let ended = try ChildProcess.run([
            "chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--user-data-dir=\(directory("profile"))", "--blink-settings=preferredColorScheme=\(scheme.rawValue)",
            "--window-size=1400,900", "--dump-dom", "file://" + directory("page.html"),
        ])
        guard let start = ended.output.range(of: "<pre>"), let end = ended.output.range(of: "</pre>"),
            let seen = Data(base64Encoded: String(ended.output[start.upperBound..<end.lowerBound]))
        else { throw Blind(description: "the browser ended with \(ended.status): \(ended.output)\(ended.messages)") }
        return try JSONDecoder().decode([Sight].self, from: seen)
    }

    struct Blind: Error, CustomStringConvertible { let description: String }

    private static let script = (#filePath as NSString).deletingLastPathComponent + "/browser/look.html"
}
