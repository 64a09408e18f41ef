/// The version of everything in this package, said once: the program, the interface and the client library are released
/// together. `VersionTests` holds CHANGELOG, `openapi.yaml` and the documents against it.
package enum BellwetherVersion {
    package static let number = "1.0.0"
}
