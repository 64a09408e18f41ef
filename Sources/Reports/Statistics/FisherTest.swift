internal import Glibc

/// Fisher's exact test, two-sided: how probable a table of two samples is, and all that are no more probable, if both come
/// from one.
package enum FisherTest {
    package static func probability(_ part: Int64, of whole: Int64, and otherPart: Int64, of otherWhole: Int64)
        -> Double
    {
        let all = part + otherPart
        /// Of `all`, so many in the first sample: as a logarithm, since the ways are many.
        func weight(_ part: Int64) -> Double { choices(part, of: whole) + choices(all - part, of: otherWhole) }
        let total = choices(all, of: whole + otherWhole)
        let seen = weight(part)
        var probability = 0.0
        for possible in max(0, all - otherWhole)...min(all, whole) {
            let weight = weight(possible)
            // Equal ones differ in their last digits.
            if weight <= seen + 1e-7 { probability += exp(weight - total) }
        }
        return min(probability, 1)
    }

    /// The logarithm of how many ways there are to choose so many.
    private static func choices(_ part: Int64, of whole: Int64) -> Double {
        lgamma(Double(whole) + 1) - lgamma(Double(part) + 1) - lgamma(Double(whole - part) + 1)
    }
}
