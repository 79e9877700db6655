# bash completion of sluice; `sluice completion bash` has written it
_sluice()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous= verb= kind= words= list= options=
    local ended= before= i
    COMPREPLY=()
    ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
    # bash hands --option=value over as three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        --) ended=1 ;;
        @VERB_CASES@) verb=${verb:-${COMP_WORDS[i]}} ;;
        esac
    done
    case $verb,$previous in
@VALUES@    esac
    if [[ -z $kind$words ]]; then
        case $verb in
        '') words='@VERBS@' ;;
@POSITIONALS@        esac
        options+=' @OPTIONS@'
        if [[ $current == -* && -z $ended ]]; then
            kind=any words=$options
        fi
    fi
    if [[ -n $list && $current == *,* ]]; then
        before=${current%,*},
    fi
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${current#"$before"}")
    fi
    case $kind in
    files | folders)
        local -a found
        [[ $kind == files ]] && mapfile -t found < <(compgen -f -- "$current")
        [[ $kind == folders ]] && mapfile -t found < <(compgen -d -- "$current")
        COMPREPLY+=("${found[@]}")
        compopt -o filenames 2>/dev/null
        ;;
    esac
}
complete -F _sluice sluice
