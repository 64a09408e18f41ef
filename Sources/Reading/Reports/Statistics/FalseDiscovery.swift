/// Holds false discovery at 5 % over all comparisons of a report: of the differences that a report calls more than
/// chance, at most one in twenty is expected to be chance, however many it tests.
///
/// The method is Benjamini and Hochberg's: of m probabilities in their order, the k-th may be up to k · 5 % / m. None
/// may reach `TwoProportions.significance`, so neighbours do not lift a difference that would not count alone.
package enum FalseDiscovery {
    static let share = 0.05

    /// The greatest probability that still counts as more than chance, of so many comparisons. A comparison that was
    /// made and found nothing has the probability 1.
    package static func limit(of probabilities: [Double]) -> Double {
        let sorted = probabilities.filter { !$0.isNaN }.sorted()
        let last = sorted.indices.last { place in
            let most = share * Double(place + 1) / Double(sorted.count)
            return sorted[place] < TwoProportions.significance && sorted[place] <= most
        }
        return last.map { sorted[$0] } ?? 0
    }
}

extension Significance {
    /// Its probability as a comparison among others; nil if there was no comparison.
    package var tested: Double? {
        switch self {
        case .higher(let p), .lower(let p), .likeChance(let p): p
        // The exact test found nothing, or the days contradicted one another.
        case .smallSample, .divided: 1
        case .unsettled, .otherCoverage, .beyondWhole: nil
        }
    }

    /// What remains of it if only probabilities up to a limit count as more than chance.
    package func held(to limit: Double) -> Significance {
        switch self {
        case .higher(let p) where p > limit, .lower(let p) where p > limit: .likeChance(p: p)
        default: self
        }
    }
}

extension Report {
    /// Judges all comparisons of the report together. Each is visited twice: first to learn its probability, then to be
    /// held to the limit of all.
    mutating func judgeTogether() {
        var probabilities: [Double] = []
        for section in sections {
            section.eachVerdict(&self) { verdict in
                if let p = verdict.tested { probabilities.append(p) }
            }
        }
        let limit = FalseDiscovery.limit(of: probabilities)
        comparisons = Int64(probabilities.count)
        for section in sections { section.eachVerdict(&self) { $0 = $0.held(to: limit) } }
    }
}
