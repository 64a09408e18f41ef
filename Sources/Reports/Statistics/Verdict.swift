/// Whether two rates differ by more than chance.
enum Verdict: Hashable, Sendable {
    case higher(p: Double)
    case lower(p: Double)
    /// Chance alone can explain the difference.
    case likeChance(p: Double)
    /// Too few to say.
    case smallSample
    /// One side still changes with late events, and the other is complete.
    case unsettled
    /// The days compared with differ too much among themselves: the test of all together and their median disagree.
    case divided

    /// `lower by more than chance (p < .001)`
    var words: String {
        switch self {
        case .higher(let p): "higher by more than chance (\(Wording.probability(p)))"
        case .lower(let p): "lower by more than chance (\(Wording.probability(p)))"
        case .likeChance(let p): "no more than chance makes (\(Wording.probability(p)))"
        case .smallSample: "too small a sample to say"
        case .unsettled: "too early to say: receipts still come, and the rate mostly falls as they do"
        case .divided: "and these days differ too much among themselves to say more"
        }
    }

    /// Its name in JSON.
    var word: String {
        switch self {
        case .higher: "higher"
        case .lower: "lower"
        case .likeChance: "like_chance"
        case .smallSample: "small_sample"
        case .unsettled: "unsettled"
        case .divided: "divided"
        }
    }

    /// 1, −1 or 0; nil where the test says nothing.
    var sign: Int64? {
        switch self {
        case .higher: 1
        case .lower: -1
        case .likeChance: 0
        case .smallSample, .unsettled, .divided: nil
        }
    }

    /// The p of the test.
    private var probability: Double? {
        switch self {
        case .higher(let p), .lower(let p), .likeChance(let p): p
        case .smallSample, .unsettled, .divided: nil
        }
    }

    var facts: [Fact] { [Fact(name: "verdict", value: .verdict(self)), .number("p", probability)] }
}
