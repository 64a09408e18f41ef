import Glibc

/// A colour, and how bright it is, by the rules of WCAG 2.
struct Color {
    let red, green, blue: Int

    /// Of `#rrggbb`.
    init(_ text: String) {
        let number = Int(text.dropFirst(), radix: 16) ?? 0
        (red, green, blue) = (number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF)
    }

    var luminance: Double {
        let parts = [red, green, blue].map { part in
            let share = Double(part) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    func contrast(with other: Color) -> Double {
        let (low, high) = (min(luminance, other.luminance), max(luminance, other.luminance))
        return (high + 0.05) / (low + 0.05)
    }
}
