/// A rate, exactly: null where its base is 0.
package struct Rate: Hashable, Sendable {
    package let part: Int64
    package let base: Int64

    package init(_ part: Int, of base: Int) {
        self.init(Int64(part), of: Int64(base))
    }

    package init(_ part: Int64, of base: Int64) {
        self.part = part
        self.base = base
    }

    package var value: Double? { base == 0 ? nil : Double(part) / Double(base) }
}
