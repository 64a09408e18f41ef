// What the guide touches of Firebase's iOS SDK, declared as its documentation has it, for type-checking elsewhere.
import Foundation

open class FirebaseApp: NSObject {
    open class func configure() {}
}
