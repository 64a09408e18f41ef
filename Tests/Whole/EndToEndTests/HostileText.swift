import Foundation

/// Texts that some program somewhere has obeyed, each short enough for an identifier.
enum HostileText {
    static let all = [
        // SQL and psql
        "'; DROP TABLE log.event; --", "$$; SELECT pg_sleep(9); $$", #"\'; \! touch /tmp/obeyed"#,
        "\\copy log.event to program 'id'", "x') OR ('1'='1", "/* */ ; COMMIT;", #"\N"#, #"\."#, "NULL",
        "{a,NULL,\"b\"}",
        ":'ingest' :\"x\"", "%s %n %x $1 ?",
        // Shells, templates, paths
        "`id` $(id) ${HOME}", "../../etc/passwd", "{{7*7}} #{7*7} <%= 7 %>",
        // Markup
        "<script>window.obeyed=1</script>", #""><img src=x onerror="window.obeyed=1">"#, "a&lt;b &amp; c", "]]><!--",
        "| **b** | `c` | [d](javascript:e) ![](f)", "```\n# head\n```", "@everyone #12 https://example.org :tada:",
        // Spreadsheets
        "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1,2)", "\t=1+1", "\r\n=2+2", "a,b;\"c\"\td", "＝1+1",
        // JSON and log lines
        #"{"a":"b"},"x":["#, #"\u0000 \" \\"#, "first\r\n{\"level\":\"error\",\"message\":\"forged\"}\nthird",
        "x\n# HELP forged_total Forged.\nforged_total{a=\"b\"} 1",
        // What a terminal obeys
        "\u{1}\u{7}\u{8}\u{7f}bell", "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}", "\u{9b}31m \u{90}q\u{9c} \u{85}next",
        "\u{202e}gpj.exe\u{202c}", "open\u{2066}isolate \u{200f}mark\u{61c}", "a\u{2028}b\u{2029}c",
        "zero\u{200b}\u{200d}\u{feff}\u{ad}\u{2060}width", "\u{e0041}\u{e007f}tags",
        // Unicode. The last two of each plane beyond the first psql itself leaves out where it prints a table.
        "😀👩‍👩‍👧‍👦🇹🇭\u{10fffd}", "Z" + String(repeating: "\u{351}\u{36b}", count: 50), "e\u{301}", "\u{e9}",
        "\u{fffd}\u{fffe}\u{ffff}", "ﬁ Ǆ İı ẞß", "עברית עם 20 %", "عربي", "สวัสดี", " leading and trailing ",
        "\u{a0}\u{3000}blank\u{2003}", String(repeating: "Long", count: 64),
    ]

    /// As a JSON string literal of another maker than the program's own.
    static func json(_ text: String) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed), as: UTF8.self)
    }

    /// What no terminal and no editor should be handed as it is: controls, and what turns, breaks or hides in a line.
    static func obeyed(in text: some StringProtocol, allowing allowed: Set<Unicode.Scalar> = []) -> Set<String> {
        Set(
            text.unicodeScalars.filter { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: !allowed.contains(scalar)
                default: false
                }
            }.map { "U+" + String($0.value, radix: 16) })
    }
}
