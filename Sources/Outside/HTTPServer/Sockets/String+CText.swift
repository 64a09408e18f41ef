extension String {
    /// Text that C wrote into a buffer, up to its NUL.
    init(cText buffer: [CChar]) {
        self.init(decoding: buffer.prefix { $0 != 0 }.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
