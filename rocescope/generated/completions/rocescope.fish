# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_rocescope_global_optspecs
    string join \n h/help V/version
end

function __fish_rocescope_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_rocescope_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_rocescope_using_subcommand
    set -l cmd (__fish_rocescope_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c rocescope -n "__fish_rocescope_needs_command" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_needs_command" -s V -l version -d 'Print version'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "analyze" -d 'Read captures and say what is wrong, whose fault it is, and what could not be seen'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "explain" -d 'Tell all about a finding, or list the findings there are'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "man" -d 'Print the manual page'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "schema" -d 'Print the JSON Schema of the report'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "walk" -d 'Walk over the records of a file and count them: the floor for measurements'
complete -c rocescope -n "__fish_rocescope_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l format -d 'How the report is written' -r -f -a "text\t'For people, 80 columns wide'
json\t'For programs: one document, `rocescope.report/1`'
markdown\t'For tickets and wikis'"
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -s o -l output -d 'Where the report goes instead of standard output' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l fail-on -d 'Exit with 1 if a finding is at least this severe, or has one of these ids: never, info, warning, critical, ID,...' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l threads -d 'Threads; the report does not depend on it [default: the cores there are]' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l icrc -d 'Check the ICRC of whole packets; off is faster, and damaged packets then look whole' -r -f -a "on\t'Do it'
off\t'Do not'"
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l max-streams -d 'Streams kept at a time; the one not seen for longest leaves, and the report says so' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l filter -d 'Choose which streams, connections and findings are listed' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l frames -d 'Write one JSON object for each RoCE packet to this file; `-` is standard output' -r -F
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l tz -d 'Time zone in which times print: utc, local, or Area/City' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l udp-port -d 'Another UDP port that carries RoCE v2, besides 4791 (repeatable)' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l vxlan-port -d 'Another UDP port that carries VXLAN, besides 4789 (repeatable)' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l set -d 'Change a threshold; `rocescope explain FINDING` names them (repeatable)' -r
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l read-0x40-as -d 'Read opcodes 0x40 to 0x5f as reliable datagram (IBTA) or as NVIDIA\'s dynamically connected transport' -r -f -a "rd\t'Reliable datagram, as IBTA has it'
dc\t'Dynamically connected transport of NVIDIA'"
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l color -d 'Colours: auto is on a terminal, unless NO_COLOR is set' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -l redact -d 'Replace addresses, paths and names by stable stand-ins'
complete -c rocescope -n "__fish_rocescope_using_subcommand analyze" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand explain" -l format -d 'How it is written' -r -f -a "text\t'For people, 80 columns wide'
json\t'For programs: one document, `rocescope.report/1`'
markdown\t'For tickets and wikis'"
complete -c rocescope -n "__fish_rocescope_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rocescope -n "__fish_rocescope_using_subcommand completions" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand man" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand schema" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand walk" -s h -l help -d 'Print help'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "analyze" -d 'Read captures and say what is wrong, whose fault it is, and what could not be seen'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "explain" -d 'Tell all about a finding, or list the findings there are'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "man" -d 'Print the manual page'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "schema" -d 'Print the JSON Schema of the report'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "walk" -d 'Walk over the records of a file and count them: the floor for measurements'
complete -c rocescope -n "__fish_rocescope_using_subcommand help; and not __fish_seen_subcommand_from analyze explain completions man schema walk help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
