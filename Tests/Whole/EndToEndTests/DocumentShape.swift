import Foundation
import TestSupport

/// What a document is made of for a program that reads it: its elements, the cells of its lines. Names do not count.
struct DocumentShape: Decodable {
    /// How often each part is there.
    let parts: [String: Int]
    /// What must not be there at all.
    let faults: [String]

    func differences(from other: DocumentShape) -> [String] {
        Set(parts.keys).union(other.parts.keys).filter { parts[$0] != other.parts[$0] }.sorted().map {
            "\($0): \(parts[$0] ?? 0), not \(other.parts[$0] ?? 0)"
        }
    }

    /// A reader gave up on a document.
    struct Unreadable: Error, CustomStringConvertible { let description: String }

    /// Of the reports that are read by programs, by format and app, as programs read them that are not ours.
    static func all(of documents: [String: [String: String]]) throws -> [String: [String: DocumentShape]] {
        let read = documents.filter { ["html", "markdown", "csv"].contains($0.key) }
        let input = String(decoding: try JSONEncoder().encode(read), as: UTF8.self)
        let ended = try ChildProcess.run(["/usr/bin/python3", "-I", "-c", script], input: input)
        guard ended.status == 0 else { throw Unreadable(description: ended.messages) }
        return try JSONDecoder().decode([String: [String: DocumentShape]].self, from: Data(ended.output.utf8))
    }

    private static let script = #"""
        import collections, csv, html.parser, io, json, re, sys

        def html_shape(text):
            parts, faults = collections.Counter(), []

            class Reader(html.parser.HTMLParser):
                def handle_starttag(self, tag, attributes):
                    parts[" ".join([tag] + sorted(name for name, _ in attributes))] += 1
                    for name, value in attributes:
                        leads = name in ("href", "src", "action") and not (value or "").startswith("#")
                        if name.startswith("on") or leads:
                            faults.append(f"{tag} {name}")
                    if tag in ("script", "img", "iframe", "object", "form", "link", "base"):
                        faults.append(tag)
                def handle_endtag(self, tag): parts["/" + tag] += 1
                def handle_comment(self, data): faults.append("comment")
                def unknown_decl(self, data): faults.append("declaration")
                def handle_pi(self, data): faults.append("instruction")

            reader = Reader(convert_charrefs=True)
            reader.feed(text)
            reader.close()
            return parts, faults

        def markdown_shape(text):
            parts, faults = collections.Counter(), []
            for line in text.split("\n"):
                code = re.sub(r"<code>[^<>]*</code>|`[^`]*`", "", line)
                if line.startswith("|"):
                    bars = re.findall(r"(?<!\\)[|]", line)
                    parts[f"row of {len(bars) - 1}"] += 1
                elif line.startswith("#"):
                    parts["heading " + line.split(" ")[0]] += 1
                elif line.startswith("```"):
                    faults.append("fence")
                if re.search(r"<[a-zA-Z/!]|\]\(|https?:|@[a-z]|`", code):
                    faults.append(line)
            return parts, faults

        def csv_shape(text):
            parts, faults = collections.Counter(), []
            for row in csv.reader(io.StringIO(text, newline=""), strict=True):
                parts[f"row of {len(row)}"] += 1
                parts[" ".join([row[3], row[7]])] += 1
                for cell in row[:8]:
                    if cell.strip()[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20"):
                        faults.append(cell)
            return parts, faults

        shapes = {"html": html_shape, "markdown": markdown_shape, "csv": csv_shape}
        answer = {}
        for kind, both in json.load(sys.stdin).items():
            for app, text in both.items():
                parts, faults = shapes[kind](text)
                parts.pop("", None)
                answer.setdefault(kind, {})[app] = {"parts": parts, "faults": faults}
        json.dump(answer, sys.stdout)
        """#
}
