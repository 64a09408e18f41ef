/// Names as nobody should choose them, each of which some program somewhere has obeyed.
enum HostileNames {
    static let script = "<script>window.obeyed = 'script'</script>"
    static let image = "\"><img src=x onerror=\"window.obeyed='image'\">"
    static let svg = "'/><svg onload=window.obeyed='svg'>"
    static let entity = "a&lt;b &amp; c"
    static let formula = "=HYPERLINK(\"https://example.org\",\"prize\")"
    static let plusFormula = "+1+cmd|' /C calc'!A0"
    static let atFormula = "@SUM(1,2)"
    static let tabFormula = "\t=1+1"
    static let markdown = "| **bold** `code` [link](javascript:alert(1)) ![](x)"
    static let newlines = "first\r\nsecond\u{2028}third"
    static let control = "bell\u{7}escape\u{1B}[31mred\u{0}"
    /// Shows what follows it from right to left: `report‮gpj.exe`.
    static let override = "report\u{202E}gpj.exe"
    static let isolate = "open\u{2066}isolate"
    static let arabic = "عروض الجمعة"
    static let hebrew = "מבצעים (20 %)"
    static let thai = "โปรโมชั่นสุดสัปดาห์"
    static let emoji = "🛒 cart"
    static let combining = "Z\u{351}\u{36B}\u{343}\u{32A}\u{302}algo"
    static let nonCharacter = "end\u{FFFF}"
    /// As long as a name may be, and no place to break it.
    static let long = String(repeating: "LongCategory", count: 21)

    static let all = [
        script, image, svg, entity, formula, plusFormula, atFormula, tabFormula, markdown, newlines, control, override,
        isolate, arabic, hebrew, thai, emoji, combining, nonCharacter, long,
    ]
}
