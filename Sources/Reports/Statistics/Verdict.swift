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

    /// What follows the two rates: `This is more than chance (p < .001).`
    var sentence: String {
        switch self {
        case .higher(let p), .lower(let p): "This is more than chance (\(Wording.probability(p)))."
        case .likeChance(let p): "This is within chance (\(Wording.probability(p)))."
        case .smallSample: "The sample is too small to judge this."
        case .unsettled: "It is too early to judge this: receipts still arrive, and the rate usually falls as they do."
        case .divided: "These days differ too much among themselves to judge this."
        }
    }

    /// Its name in JSON.
    var word: String { test.word }
    /// 1, −1 or 0; nil where the test says nothing.
    var sign: Int64? { test.sign }

    var facts: [Fact] { [Fact(name: "verdict", value: .verdict(self)), .number("p", test.p)] }

    private var test: (word: String, sign: Int64?, p: Double?) {
        switch self {
        case .higher(let p): ("higher", 1, p)
        case .lower(let p): ("lower", -1, p)
        case .likeChance(let p): ("like_chance", 0, p)
        case .smallSample: ("small_sample", nil, nil)
        case .unsettled: ("unsettled", nil, nil)
        case .divided: ("divided", nil, nil)
        }
    }
}
