import Foundation
import ProjectFolder
import Testing
import Values

@testable import Registry

@Suite("Who is in which arm of an experiment")
struct ArmTests {
    struct Vectors: Decodable {
        struct Vector: Decodable {
            struct Given: Decodable {
                let salt: String
                let control: Double
                let install_id: String
            }
            struct Expected: Decodable {
                let place: String
                let arm: String
            }
            let name: String
            let given: Given
            let expect: Expected
        }
        let vectors: [Vector]
    }

    @Test("the rule gives what the vectors expect, place and arm")
    func vectors() throws {
        let file = ProjectFolder.url.appendingPathComponent("Examples/vectors/arms.json")
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file)).vectors
        #expect(vectors.count >= 10 && Set(vectors.map(\.name)).count == vectors.count)
        #expect(Set(vectors.map(\.expect.arm)) == Set(Arm.allCases.map(\.rawValue)))
        for vector in vectors {
            let install = try #require(UUID(vector.given.install_id))
            let share = try #require(ControlShare(percent: vector.given.control))
            let rule = ArmRule(share, salt: vector.given.salt)
            #expect("\(ArmRule.place(of: install, salt: vector.given.salt))" == vector.expect.place, "\(vector.name)")
            #expect(rule.arm(of: install).rawValue == vector.expect.arm, "\(vector.name)")
        }
    }

    @Test("the threshold is the share of 2^64, rounded up, at both ends too")
    func thresholds() throws {
        #expect(ControlShare(percent: 50)?.threshold == 1 << 63)
        #expect(ControlShare(percent: 10)?.threshold == 1_844_674_407_370_955_162)
        #expect(ControlShare(percent: 0.000001)?.threshold == 184_467_440_738)
        #expect(ControlShare(percent: 99.999999)?.threshold == 18_446_743_889_242_110_879)
        #expect(ControlShare(percent: 25)?.thresholdBytes == [0x40, 0, 0, 0, 0, 0, 0, 0])
        #expect(ControlShare(percent: 12.5)?.text == "12.5")
        #expect(ControlShare(percent: 10)?.text == "10")
        for percent in [0, -1, 100, 100.1, .nan, .infinity, -.infinity, 0.0000001, 99.9999999, 1e300] {
            #expect(ControlShare(percent: percent) == nil, "\(percent)")
        }
    }

    @Test("a salt of its own has 128 bits, and is another one each time")
    func salts() {
        let salts = (0..<100).map { _ in ArmRule.makeSalt() }
        #expect(Set(salts).count == 100)
        #expect(salts.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }

    @Test("a document is read strictly, and all that is wrong in it is told by path")
    func documents() throws {
        let good =
            #"{"experiments":[{"name":"a","control":12.5,"starts":"2026-11-01T00:00:00+07:00","ends":null,"goals":["g"],"salt":"s"}]}"#
        let experiment = try #require(try ExperimentDocument(Array(good.utf8)).experiments.first)
        #expect(experiment.name == "a" && experiment.share.text == "12.5" && experiment.salt == "s")
        #expect("\(experiment.starts)" == "2026-10-31T17:00:00.000000Z" && experiment.ends == nil)
        #expect(experiment.goals == ["g"] && experiment.campaigns == [])
        let bad = """
            {"experiments":[
                {"name":"a'","control":0,"starts":"yesterday","x":1},
                {"name":"b","control":"1","starts":"2026-11-01T00:00:00Z"},
                {"name":"c","control":1,"starts":"2026-11-01T00:00:00Z","ends":"2026-11-01T00:00:00Z","goals":["g","g",7,""]},
                {"name":"c","control":1,"starts":"2026-11-01T00:00:00Z","campaigns":"x"}, 5],
             "more":1}
            """
        let error = #expect(throws: RegistryDocumentError.self) { try ExperimentDocument(Array(bad.utf8)) }
        guard case .invalid(let remarks, more: 0) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            remarks.map(\.path) == [
                "more", "experiments[0].x", "experiments[0].name", "experiments[0].control", "experiments[0].starts",
                "experiments[1].control", "experiments[2].goals[2]", "experiments[2].ends", "experiments[2].goals[1]",
                "experiments[2].goals[2]", "experiments[3].campaigns", "experiments[3].name", "experiments[4]",
            ], "\(remarks)")
        for text in ["{}", "[]", "{", #"{"experiments":{}}"#, #"{"experiments":[{"control":1e999}]}"#] {
            #expect(throws: RegistryDocumentError.self, "\(text)") { try ExperimentDocument(Array(text.utf8)) }
        }
    }
}
