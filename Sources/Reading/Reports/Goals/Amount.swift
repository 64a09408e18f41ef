internal import ServiceRuntime

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
    var exact: String {
        let (whole, rest) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return (millionths < 0 ? "-" : "") + "\(whole)" + (digits.isEmpty ? "" : ".\(digits)")
    }

    /// `184,020.50 THB`, as people read it.
    func words(in currency: String) -> String {
        let hundredths = (millionths.magnitude + 5000) / 10_000
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        let digits = "\(Wording.count(Int64(clamping: whole))).\(rest < 10 ? "0" : "")\(rest)"
        return (millionths < 0 ? "−" : "") + digits + (currency.isEmpty ? "" : " \(currency)")
    }
}
