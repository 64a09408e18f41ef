import Simulation
import Telemetry
import Testing

@Suite("Installs that never come back")
struct DormancyTests {
    /// What a funnel would say of all visible pushes: response_rate, and the receipts behind it.
    private func figures(dormant: Double, extensionSends: Bool) -> (rate: Double, received: Int) {
        let audience = Audience(dormant: dormant, extensionSends: extensionSends)
        let deliveries = Fortnight(.news, installs: 250, audience: audience).deliveries()
        let received = deliveries.filter { events in
            events.contains { event in
                if case .received(let receipt) = event.interaction { receipt.via != .background } else { false }
            }
        }
        let responded = received.count { events in
            events.contains { [.notificationOpened, .actionTapped, .storyActionTapped].contains($0.type) }
        }
        return (Double(responded) / Double(received.count), received.count)
    }

    @Test("report nothing unless the extension sends, and the response rate then looks better than it is")
    func rates() {
        let (all, seen) = (figures(dormant: 0.4, extensionSends: true), figures(dormant: 0.4, extensionSends: false))
        // Docs/Analysts.md has these figures.
        print("dormant 40 %: \(all) with a sending extension, \(seen) without")
        #expect(Double(seen.received) < 0.75 * Double(all.received))
        #expect(seen.rate > 1.3 * all.rate)
        // Without dormant installs it makes little difference who sends.
        let (both, later) = (figures(dormant: 0, extensionSends: true), figures(dormant: 0, extensionSends: false))
        #expect(Double(later.received) > 0.9 * Double(both.received) && later.rate < 1.1 * both.rate)
    }
}
