import JSON
import Telemetry

/// What JSON can express and the log cannot store.
enum Unholdable {
    case number, surrogate, nesting, nul

    /// What was found when the body was mended.
    init(_ misfit: JSONMisfit.Kind) {
        switch misfit {
        case .number: self = .number
        case .surrogate: self = .surrogate
        case .nesting: self = .nesting
        }
    }

    /// A clause that says why.
    var words: String {
        switch self {
        case .number: "it contains a number beyond 64 bits or a double"
        case .surrogate: "it contains a string with a lone surrogate"
        case .nesting: "it is nested more than \(Bounds.nesting) levels deep"
        case .nul: "it contains a string with the character U+0000"
        }
    }
}

extension JSONValue {
    /// Whether something in this object may be impossible to store, including parts that are not stored anyway.
    func mayBeUnholdable(isMended: Bool, levels: Int, mayHoldNUL: Bool) -> Bool {
        isMended || nestsDeeper(than: levels) || mayHoldNUL && holdsNUL
    }
}
