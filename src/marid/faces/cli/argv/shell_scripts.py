"""Completion scripts. Those of click add a space after `KEY=`, and ignore that bash splits words at `=` and `:`."""

from typing import ClassVar

from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

# Where bash splits words. No space is added after a word that ends with one of these.
_WORD_BREAKS = frozenset("=:")

_BASH = r"""%(complete_func)s() {
    local IFS=$'\n' response completion type value
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete $1)
    for completion in $response; do
        IFS=',' read type value <<< "$completion"
        if [[ $type == 'dir' ]]; then
            COMPREPLY=()
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            [[ $value == *[=:] ]] && compopt -o nospace
            COMPREPLY+=($value)
        fi
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = r"""#compdef %(prog_name)s

%(complete_func)s() {
    local -a plain described unfinished response
    local type key descr
    (( ! $+commands[%(prog_name)s] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s)}")
    [[ $PREFIX == --*=* ]] && compset -P '*='
    for type key descr in ${response}; do
        if [[ "$type" == "dir" ]]; then
            _path_files -/
        elif [[ "$type" == "file" ]]; then
            _path_files -f
        elif [[ "$key" == *[=:] ]]; then
            unfinished+=("$key")
        elif [[ "$descr" == "_" ]]; then
            plain+=("$key")
        else
            described+=("$key":"$descr")
        fi
    done
    (( $#described )) && _describe -V unsorted described
    (( $#plain )) && compadd -V unsorted -a plain
    (( $#unfinished )) && compadd -S '' -V unsorted -a unfinished
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = r"""function %(complete_func)s
    for completion in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \
COMP_CWORD=(commandline -t) %(prog_name)s)
        set -l parts (string split -m 1 "," $completion)
        if test $parts[1] = "dir"
            __fish_complete_directories $parts[2]
        else if test $parts[1] = "file"
            __fish_complete_path $parts[2]
        else
            echo $parts[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class Bash(BashComplete):
    """Join split words, and offer only the part after the last split."""

    source_template: ClassVar[str] = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words, last, self._prefix = join_split_words(args, incomplete)
        return words, last

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{str(item.value).removeprefix(self._prefix)}"


class Zsh(ZshComplete):
    """The script removes `--flag=` before it completes a value."""

    source_template: ClassVar[str] = _ZSH


class Fish(FishComplete):
    """Offer a value together with its `--flag=`."""

    source_template: ClassVar[str] = _FISH

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        self._prefix = flag_prefix(incomplete)
        return args, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        if item.type == "plain" and not item.value.startswith("-"):
            item.value = self._prefix + item.value
        return super().format_completion(item)


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def flag_prefix(word: str) -> str:
    """The part of `--flag=value` before the value."""
    name, equals, _ = word.partition("=")
    return f"{name}=" if equals and name.startswith("--") else ""


def join_split_words(args: list[str], incomplete: str) -> tuple[list[str], str, str]:
    """The words as they were typed, the last of them, and what stands in that before the part which is completed."""
    words: list[str] = []
    apart = False
    for part in (*args, incomplete):
        breaks = bool(part) and _WORD_BREAKS.issuperset(part)
        if words and (apart or breaks):
            words[-1] += part
        else:
            words.append(part)
        apart = breaks
    *before, last = words
    return before, last, last if apart else last[: len(last) - len(incomplete)]
