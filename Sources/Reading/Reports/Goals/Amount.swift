internal import ServiceRuntime
internal import Values

/// What goals were worth together: exact, in millionths.
struct Amount: Hashable, Sendable {
    var millionths: Int128

    init(millionths: Int128) { self.millionths = millionths }

    /// From a whole number of millionths in digits; nil for anything else.
    init?(digits: String) {
        guard let millionths = Int128(digits) else { return nil }
        self.init(millionths: millionths)
    }

    /// `184020.5`: all of it, as JSON and CSV have it.
    var exact: String { millionths.textOfMillionths }

    /// `184,020.50 THB`, as people read it.
    func words(in currency: String) -> String {
        let hundredths = (millionths.magnitude + 5000) / 10_000
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        let digits = "\(Wording.count(Int64(clamping: whole))).\(String(rest, digits: 2))"
        return (millionths < 0 ? "−" : "") + digits + (currency.isEmpty ? "" : " \(currency)")
    }
}
