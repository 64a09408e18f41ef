/// How an attempt to send a letter ended.
package enum Outcome: Sendable, Hashable {
    case taken
    /// The place has said no, or was never reached. `endsPlace`: what is wrong is the place, so that the letters behind
    /// this one wait for the next run; otherwise it is this letter alone.
    case refused(String, endsPlace: Bool)
    /// Nobody knows whether it arrived.
    case unanswered(String)
}
