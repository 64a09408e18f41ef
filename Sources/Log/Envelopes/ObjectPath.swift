/// The path of an object in the envelope, formatted only when something is wrong with it.
enum ObjectPath {
    case event(Int)
    case inEvent(Int, StaticString)
    case envelopeSource
    case dropped(Int)
    indirect case settings(of: ObjectPath)

    var text: String {
        switch self {
        case .event(let index): "events[\(index)]"
        case .inEvent(let index, let member): "events[\(index)].\(member)"
        case .envelopeSource: "source"
        case .dropped(let index): "dropped[\(index)]"
        case .settings(let source): "\(source.text).settings"
        }
    }
}
