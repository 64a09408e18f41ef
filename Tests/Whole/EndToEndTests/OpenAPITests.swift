import Foundation
import Testing

@testable import Ingestion

/// What of the description is written by hand, and what follows from the catalogue and the routes, is held against the
/// program, from both sides.
@Suite struct OpenAPITests {
    @Test("the description is OpenAPI 3.1: its parts, schemas, references and examples hold")
    func documentIsValid() throws {
        let check = try OpenAPICheck.run(.document)
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("the description names the program's codes, words, members and bounds, and no others")
    func wordsAreTheProgram() throws {
        let check = try OpenAPICheck.run(.words)
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("a server serves the embedded description, what it describes, and nothing else")
    func routesAreAsDescribed() throws { try holds(.routes) }

    @Test("each request example is stored whole, once, and answered as described")
    func examplesAreTaken() throws { try holds(.examples) }

    @Test("each kind of refusal is answered with the status, header fields and problem document that are described")
    func errorsAreAsDescribed() throws { try holds(.errors) }

    @Test("what the schemas refuse the server refuses, and what they allow it takes")
    func schemaAndServerAgree() throws { try holds(.agreement) }

    private func holds(_ subject: OpenAPICheck.Subject) throws {
        let statuses = try OpenAPIService.run { doors in
            let check = try OpenAPICheck.run(subject, server: doors)
            #expect(check.status == 0, "\(check.output)")
        }
        #expect(statuses == [0, 0])
    }

    /// A mistake in the description, and the words by which it is found.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let subject: OpenAPICheck.Subject
        let right: String
        let wrong: String
        let complaint: String

        init(_ subject: OpenAPICheck.Subject, _ right: String, _ wrong: String, _ complaint: String) {
            (self.subject, self.right, self.wrong, self.complaint) = (subject, right, wrong, complaint)
        }

        var testDescription: String { complaint }

        /// The description with the mistake at the first place where it can be made.
        func made() throws -> String {
            let place = try #require(OpenAPICheck.embedded.range(of: right), "the description has no \(right)")
            return OpenAPICheck.embedded.replacingCharacters(in: place, with: wrong)
        }
    }

    @Test(
        "a mistake in the description is found",
        arguments: [
            Mistake(.document, "openapi: 3.1.0", "openapi: 3.0.3", "#/openapi: '3.0.3' does not match"),
            Mistake(.document, "openapi: 3.1.0", "openapi: [", "the document is no YAML"),
            Mistake(.document, "      tags: [events]\n", "      tags: [events]\n      tags: []\n", "stands twice"),
            Mistake(
                .document, "      operationId: postEvents", "      operation: postEvents", "'operation' was unexpected"),
            Mistake(.document, "schemas/Outcome'", "schemas/Income'", "#/components/schemas/Income leads nowhere"),
            Mistake(.document, "maxLength: 256", "maxLength: long", "is no JSON Schema"),
            Mistake(.document, "maxLength: 256", "maxlength: 256", "no keywords of JSON Schema: ['maxlength']"),
            Mistake(.document, "page_index: 0\n", "\n", "example 'story'"),
            Mistake(.document, "code: missing_events", "code: no_events", "'no_events' is not one of"),
            Mistake(.words, "[missing_key, unknown_key]", "[missing_key]", "problem codes"),
            Mistake(.words, "[revoked_key, wrong_key_kind]", "[revoked_key]", "text of response Forbidden"),
            Mistake(
                .words, "enum: [cold, warm, foreground]", "enum: [cold, warm]", "words of NotificationOpened.launch"),
            Mistake(.words, "        - erased\n", "", "reasons of rejection"),
            Mistake(.words, "        loops:\n", "        loop:\n", "members of story.started"),
            Mistake(.words, "required: [page_count]", "required: []", "required members of story.started"),
            Mistake(.words, "maxLength: 256", "maxLength: 255", "bound #/components/schemas/Identifier/maxLength"),
        ])
    func mistakesAreFound(_ mistake: Mistake) throws { try find(mistake, nil) }

    @Test("a description that a server does not keep to is found out")
    func brokenPromisesAreFound() throws {
        _ = try OpenAPIService.run { doors in
            for mistake in [
                Mistake(.routes, "const: 'GET, HEAD'", "const: 'GET'", "'GET' was expected"),
                Mistake(.routes, "application/yaml:", "text/yaml:", "came as 'application/yaml'"),
                Mistake(.routes, "'405': {$ref: '#/components/responses/PostOnly'}", "", "405 is not described"),
                Mistake(.examples, "page_index: 0\n", "\n", "'rejected': 1"),
                Mistake(
                    .examples, "[accepted, duplicate, rejected, results]", "[stored]", "'stored' is a required property"
                ),
                Mistake(
                    .errors, "        WWW-Authenticate:", "        WWW-Autenticate:", "401 without WWW-Autenticate"),
                Mistake(.errors, "[revoked_key, wrong_key_kind]", "[revoked_key]", "'wrong_key_kind' is not one of"),
                Mistake(.agreement, "required: [page_index]", "required: []", "the schema takes it"),
                Mistake(.agreement, "maximum: 999", "maximum: 998", "the schema refuses it"),
            ] { try find(mistake, doors) }
        }
    }

    private func find(_ mistake: Mistake, _ doors: OpenAPIService.Doors?) throws {
        let check = try OpenAPICheck.run(mistake.subject, try mistake.made(), server: doors)
        #expect(check.status == 1, "\(mistake.wrong): \(check.output)")
        #expect(check.output.contains(mistake.complaint), "\(mistake.wrong): \(check.output)")
    }

    @Test("without its libraries the check fails and says what to install")
    func missingLibrariesAreNamed() throws {
        // Without site-packages it is as if they were not installed.
        let check = try OpenAPICheck.run(.document, options: ["-S"])
        #expect(check.status == 2)
        #expect(check.output.contains("install python3-yaml and python3-jsonschema"), "\(check.output)")
    }
}
