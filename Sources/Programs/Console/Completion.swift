/// The words that can complete a command line, taken from the commands' declarations.
package struct Completion {
    /// A word that may come next, and what it is.
    package struct Candidate {
        package let word: String
        package let help: String
    }

    package private(set) var candidates: [Candidate] = []
    /// Whether a file name may come next; the shell completes it.
    package private(set) var takesFile = false

    /// The last word is being typed, and may be empty.
    package init(of words: [String], among commands: [any Command.Type]) {
        let (typed, before) = (words.last ?? "", Array(words.dropLast()))
        let command = commands.filter { before.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
        if let command {
            let rest = Array(before.dropFirst(command.words.count))
            complete(typed, after: rest, of: command)
        }
        // The first words of a command may also be a complete command.
        let family = commands.filter { $0.words.count > before.count && $0.words.starts(with: before) }
        var seen: Set<String> = []
        for member in family where seen.insert(member.words[before.count]).inserted {
            let isLast = member.words.count == before.count + 1
            let relatives = family.filter { $0.words[before.count] == member.words[before.count] }
            offer(
                member.words[before.count],
                isLast
                    ? member.summary
                    : relatives.map { $0.words.dropFirst(before.count + 1).joined(separator: " ") }
                        .joined(separator: ", "), to: typed)
        }
        if command == nil, !family.isEmpty {
            offer("--help", "Show what there is", to: typed)
            if before.isEmpty { offer("--version", "Print the version", to: typed) }
        }
    }

    private mutating func complete(_ typed: String, after rest: [String], of command: any Command.Type) {
        let options = command.optionWords
        if rest.contains("--") {
            takesFile = true
            return
        }
        // A value: after its option, or after '='.
        if let option = options.first(where: { "--\($0.name)" == rest.last && $0.value != nil }) {
            offerValues(of: option, to: typed)
            return
        }
        if let equals = typed.firstIndex(of: "="), typed.hasPrefix("--") {
            let (name, value) = (typed[..<equals].dropFirst(2), typed[typed.index(after: equals)...])
            guard let option = options.first(where: { $0.name == name }) else { return }
            for choice in option.choices where choice.hasPrefix(value) { offer("--\(name)=\(choice)", "", to: typed) }
            return
        }
        if !typed.hasPrefix("-") {
            takesFile = command.operandNames.contains { $0.contains("FILE") }
            for choice in command.operandChoices where !rest.contains(choice) { offer(choice, "", to: typed) }
            if takesFile || !command.operandChoices.isEmpty { return }
        }
        for option in options where option.isRepeatable || !rest.contains("--\(option.name)") {
            offer("--\(option.name)", option.help, to: typed)
        }
    }

    private mutating func offerValues(of option: OptionWords, to typed: String) {
        for choice in option.choices { offer(choice, "", to: typed) }
        takesFile = option.value == "FILE" || option.value == "DIR"
    }

    private mutating func offer(_ word: String, _ help: String, to typed: String) {
        if word.hasPrefix(typed) { candidates.append(Candidate(word: word, help: help)) }
    }
}

/// The supported shells. Each asks this program for completions, and shows the answer.
package enum Shell: String, CaseIterable {
    case bash, zsh, fish

    package var script: String {
        switch self {
        case .bash:
            """
            # bellwether completion bash > /usr/share/bash-completion/completions/bellwether
            _bellwether() {
                local typed=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT} word help
                local -a words
                read -ra words <<< "$line"
                [[ $line == *' ' ]] && words+=('')
                # Bash takes --option=value for three words, and replaces the last one.
                [[ $typed == = ]] && typed=
                local kept=${words[-1]%"$typed"}
                COMPREPLY=()
                while IFS=$'\t' read -r word help; do
                    if [[ $word == :files ]]; then
                        compopt -o default 2>/dev/null
                    else
                        COMPREPLY+=("${word#"$kept"}")
                    fi
                done < <("${words[0]}" completion --words -- "${words[@]:1}" 2>/dev/null)
            }
            complete -F _bellwether bellwether

            """
        case .zsh:
            """
            #compdef bellwether
            # bellwether completion zsh > /usr/share/zsh/vendor-completions/_bellwether
            _bellwether() {
                local line
                local -a found
                for line in ${(f)"$("${words[1]}" completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
                    if [[ $line == :files ]]; then
                        _files
                    else
                        found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
                    fi
                done
                (( $#found )) && _describe bellwether found
            }
            if [[ $funcstack[1] == _bellwether ]]; then _bellwether "$@"; else compdef _bellwether bellwether; fi

            """
        case .fish:
            """
            # bellwether completion fish > /usr/share/fish/vendor_completions.d/bellwether.fish
            function __bellwether
                set -l words (commandline -opc) (commandline -ct)
                for line in ($words[1] completion --words -- $words[2..] 2>/dev/null)
                    if test $line = :files
                        __fish_complete_path (commandline -ct)
                    else
                        echo $line
                    end
                end
            end
            complete -c bellwether -f -a '(__bellwether)'

            """
        }
    }
}
