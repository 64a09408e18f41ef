internal import BellwetherVersion
internal import Telemetry
internal import Values

extension Phone {
    /// A random phone among the app's users.
    init(of app: AppProfile, joinedAt: Timestamp, _ dice: inout Dice) {
        let place = dice.pick(app.places, by: \.share)
        let versions = Array(app.versions.enumerated())
        let version = dice.pick(versions) { $0.element.share }
        let device = dice.pick(Device.all, by: \.share)
        let install = UUID(time: joinedAt, &dice)
        let source = Source(
            installID: install, platform: device.platform, osVersion: dice.pick(device.systems),
            appVersion: version.element.name, sdk: "bellwether-swift/\(BellwetherVersion.number)",
            deviceModel: dice.pick(device.models),
            locale: place.locale, timeZone: place.zone.name, fid: dice.chance(0.9) ? Phone.fid(&dice) : nil,
            authorization: dice.pick(Phone.authorizations, by: \.share).authorization,
            settings: Phone.settings(of: install))
        let habits = Habits(
            engagement: min(4, dice.lognormal(median: 0.8, spread: 0.7)), wifi: dice.between(0.2, 0.95),
            sendsAtOnce: dice.chance(0.8), launchesADay: min(8, dice.lognormal(median: 0.7, spread: 0.9)),
            writesMilliseconds: dice.chance(0.03))
        self.init(
            source: source, version: version.offset, zone: place.zone, habits: habits, clock: Phone.clock(&dice),
            joinedAt: joinedAt)
    }

    /// Most people leave the settings as they are. They follow from the install, so that they take nothing from the
    /// dice.
    private static func settings(of install: UUID) -> Settings {
        let luck = Dice.mix(install.low ^ install.high) % 100
        var settings = Settings()
        for setting in Settings.all { settings[keyPath: setting] = .on }
        // Some get notifications in the summary of the morning, and some only in the notification centre.
        settings.scheduledSummary = luck < 5 ? .on : .off
        if 5..<9 ~= luck { (settings.alerts, settings.lockScreen) = (.off, .off) }
        if 9..<25 ~= luck { settings.sounds = .off }
        settings.timeSensitive = .unsupported
        return settings
    }

    /// Nearly all clocks are right to within a second or two.
    private static func clock(_ dice: inout Dice) -> Clock {
        var error = dice.between(-1.5, 1.5)
        if dice.chance(0.012) {
            let wrong = min(40 * 24, dice.lognormal(median: 5, spread: 1.6)) * 3600
            error = dice.chance(0.7) ? -wrong : wrong
        }
        return Clock(error: Int64(error * 1000) * 1000, jumps: dice.chance(0.006))
    }

    /// A Firebase installation id: 22 letters and digits.
    private static func fid(_ dice: inout Dice) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        return String((0..<22).map { _ in dice.pick(letters) })
    }

    private static let authorizations: [(authorization: Authorization, share: Double)] = [
        (.authorized, 0.83), (.provisional, 0.06), (.denied, 0.09), (.notDetermined, 0.015), (.ephemeral, 0.005),
    ]

    /// The device models, and how many there are of each.
    private struct Device {
        let platform: String
        let models: [String]
        let systems: [String]
        let share: Double

        static let all = [
            Device(
                platform: "ios", models: ["iPhone18,1", "iPhone17,1", "iPhone17,3", "iPhone16,2", "iPhone14,5"],
                systems: ["26.1", "26.0.1", "18.6.2", "18.7"], share: 0.9),
            Device(
                platform: "ipados", models: ["iPad16,6", "iPad14,8", "iPad13,18"], systems: ["26.1", "18.6.2"],
                share: 0.08),
            Device(platform: "macos", models: ["Mac16,1", "Mac15,12"], systems: ["26.1", "15.7"], share: 0.02),
        ]
    }
}
