# SPDX-License-Identifier: Apache-2.0
# fish completion for kgate; generated from its option table

# The index of the first word behind the options. Fails if there is none yet before the current word.
function __kgate_operand
    set -l words (commandline -opc)
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                echo (math $i + 1)
                return 0
            case --name --slots --weight --timeout --timeout-code --time-limit --grace --style --fd --pid --dir --mode --group --overtake --sort --on --on-loss
                set i (math $i + 1)
            case '--*'
            case '-?*'
                string match -qr -- '^-[qf1h]*[nkwtEpd]$' $words[$i]; and set i (math $i + 1)
            case '*'
                echo $i
                return 0
        end
        set i (math $i + 1)
    end
    return 1
end
function __kgate_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]; and not __kgate_operand >/dev/null
end
# Whether the current word belongs to the command that is run.
function __kgate_runs
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- "$words[2]" run jobserver; or return 1
    __kgate_operand >/dev/null; or not string match -q -- "-*" (commandline -ct)
end
# What follows the options, completed as a line of its own.
function __kgate_command
    set -l words (commandline -opc)
    set -l first (__kgate_operand); or set first (math (count $words) + 1)
    if test $first -gt (count $words)
        complete -C (commandline -ct)
    else
        complete -C (string join ' ' -- (string escape -- $words[$first..-1]) (commandline -ct))
    end
end
function __kgate_directory
    set -l words (commandline -opc)
    for i in (seq 3 (math (count $words) - 1))
        contains -- $words[$i] -d --dir; and printf '%s\n' --dir $words[(math $i + 1)]
    end
    string replace -f -r -- '^--dir=(.+)' '--dir\n$1' $words | string split '\n'
end
function __kgate_names
    kgate list (__kgate_directory) 2>/dev/null | tail -n +2 | cut -d' ' -f1
end
function __kgate_processes
    kgate status (__kgate_directory) --json 2>/dev/null | string match -ar '(?<="pid":)\d+'
end
complete -c kgate -f
complete -c kgate -n __fish_is_first_arg -a help -d 'tell more about a command'
complete -c kgate -n __fish_is_first_arg -l help -d 'what there is'
complete -c kgate -n __fish_is_first_arg -l version -d 'the version'
complete -c kgate -n '__kgate_in help; and test (count (commandline -opc)) -eq 2' -a 'run hold release jobserver create status list top stats wait cancel pause resume drain resize remove doctor lease'
complete -c kgate -n __kgate_runs -a '(__kgate_command)'
complete -c kgate -n __fish_is_first_arg -a run -d 'run a command when a slot is free'
complete -c kgate -n '__kgate_in run' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default"). Given several times: all of these gates or none, each -k and -w for the gate named before it'
complete -c kgate -n '__kgate_in run' -l slots -s k -x -d 'how many may be inside, 1 to 4095, if the gate is created (default: 1). A gate that exists must have been created with as many, or resized since'
complete -c kgate -n '__kgate_in run' -l weight -s w -x -d 'take W slots at once (default: 1)'
complete -c kgate -n '__kgate_in run' -l timeout -s t -x -d 'give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d'
complete -c kgate -n '__kgate_in run' -l try -d 'give up at once if no slot is free'
complete -c kgate -n '__kgate_in run' -l timeout-code -s E -x -d 'exit with CODE, 0 to 255, if no slot was to be had (default: 124 after --timeout, 122 with --try)'
complete -c kgate -n '__kgate_in run' -l time-limit -x -d 'end COMMAND if it runs longer: SIGTERM, and SIGKILL after the grace; exit code 123'
complete -c kgate -n '__kgate_in run' -l grace -x -d 'the time between SIGTERM and SIGKILL of --time-limit and --on-loss (default: 10s)'
complete -c kgate -n '__kgate_in run' -l exec -d 'become COMMAND instead of starting it: no process of kgate remains; its end gives the slot back, and so does closing all descriptors, as daemons do'
complete -c kgate -n '__kgate_in run' -l existing -d 'use only a gate that exists; create none'
complete -c kgate -n '__kgate_in run' -l show-arguments -d 'let others see the arguments of COMMAND, not only its name'
complete -c kgate -n '__kgate_in run' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in run' -l mode -x -d 'the mode of a gate that is created, in octal; umask does not narrow it, and the owner must be able to read and write (default: 0600)'
complete -c kgate -n '__kgate_in run' -l group -x -a '(__fish_complete_groups)' -d 'share a gate that is created with this group, by its name or number; makes the mode 0660'
complete -c kgate -n '__kgate_in run' -l overtake -x -d 'of a gate that is created: how many may pass the queue between two grants from it (default: 0)'
complete -c kgate -n '__kgate_in run' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in run' -l on-loss -x -d 'with --on, when the slot is lost: term (SIGTERM, and SIGKILL after the grace), kill, or ignore, which lets the command go on and passes on its exit code (default: term)'
complete -c kgate -n '__kgate_in run' -l lease -d 'with --on, take a slot that `kgate lease` has for this host: first come, first served on this host'
complete -c kgate -n '__kgate_in run' -l quiet -s q -d 'do not show the position in the queue while waiting, and say nothing if no slot was to be had'
complete -c kgate -n '__kgate_in run' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a hold -d 'keep a slot in a script, by a descriptor'
complete -c kgate -n '__kgate_in hold' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in hold' -l slots -s k -x -d 'how many may be inside, 1 to 4095, if the gate is created (default: 1). A gate that exists must have been created with as many, or resized since'
complete -c kgate -n '__kgate_in hold' -l weight -s w -x -d 'take W slots at once (default: 1)'
complete -c kgate -n '__kgate_in hold' -l timeout -s t -x -d 'give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d'
complete -c kgate -n '__kgate_in hold' -l try -d 'give up at once if no slot is free'
complete -c kgate -n '__kgate_in hold' -l timeout-code -s E -x -d 'exit with CODE, 0 to 255, if no slot was to be had (default: 124 after --timeout, 122 with --try)'
complete -c kgate -n '__kgate_in hold' -l fd -x -d 'the descriptor of the shell that keeps the slot'
complete -c kgate -n '__kgate_in hold' -l path -d 'print the file that the descriptor must be opened on, and take nothing'
complete -c kgate -n '__kgate_in hold' -l existing -d 'use only a gate that exists; create none'
complete -c kgate -n '__kgate_in hold' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in hold' -l mode -x -d 'the mode of a gate that is created, in octal; umask does not narrow it, and the owner must be able to read and write (default: 0600)'
complete -c kgate -n '__kgate_in hold' -l group -x -a '(__fish_complete_groups)' -d 'share a gate that is created with this group, by its name or number; makes the mode 0660'
complete -c kgate -n '__kgate_in hold' -l overtake -x -d 'of a gate that is created: how many may pass the queue between two grants from it (default: 0)'
complete -c kgate -n '__kgate_in hold' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in hold' -l on-loss -x -d 'with --on, when the slot is lost, to what has the descriptor open: term (SIGTERM, and SIGKILL after the grace), kill, or ignore (default: term)'
complete -c kgate -n '__kgate_in hold' -l grace -x -d 'the time between SIGTERM and SIGKILL of --on-loss (default: 10s)'
complete -c kgate -n '__kgate_in hold' -l quiet -s q -d 'do not show the position in the queue while waiting, and say nothing if no slot was to be had'
complete -c kgate -n '__kgate_in hold' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a release -d 'give back the slot that a descriptor keeps'
complete -c kgate -n '__kgate_in release' -l fd -x -d 'the descriptor that keeps the slot; must be given'
complete -c kgate -n '__kgate_in release' -l on -x -d 'may be given as for `kgate hold`; the descriptor tells it by itself'
complete -c kgate -n '__kgate_in release' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a jobserver -d 'share the slots between all makes of this host'
complete -c kgate -n '__kgate_in jobserver' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in jobserver' -l slots -s k -x -d 'how many may be inside, 1 to 4095, if the gate is created (default: 1). A gate that exists must have been created with as many, or resized since'
complete -c kgate -n '__kgate_in jobserver' -l style -x -a 'pipe fifo' -d 'pipe, which every make understands, or fifo, for make 4.4 and later (default: pipe)'
complete -c kgate -n '__kgate_in jobserver' -l timeout -s t -x -d 'give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d'
complete -c kgate -n '__kgate_in jobserver' -l try -d 'give up at once if no slot is free'
complete -c kgate -n '__kgate_in jobserver' -l timeout-code -s E -x -d 'exit with CODE, 0 to 255, if no slot was to be had (default: 124 after --timeout, 122 with --try)'
complete -c kgate -n '__kgate_in jobserver' -l existing -d 'use only a gate that exists; create none'
complete -c kgate -n '__kgate_in jobserver' -l show-arguments -d 'let others see the arguments of COMMAND, not only its name'
complete -c kgate -n '__kgate_in jobserver' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in jobserver' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in jobserver' -l on-loss -x -d 'with --on, when the slot is lost: term (SIGTERM, and SIGKILL after the grace), kill, or ignore, which lets the command go on and passes on its exit code (default: term)'
complete -c kgate -n '__kgate_in jobserver' -l grace -x -d 'the time between SIGTERM and SIGKILL of --on-loss (default: 10s)'
complete -c kgate -n '__kgate_in jobserver' -l quiet -s q -d 'do not show the position in the queue while waiting, and say nothing if no slot was to be had'
complete -c kgate -n '__kgate_in jobserver' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a create -d 'create a gate'
complete -c kgate -n '__kgate_in create' -l name -s n -x -a '(__kgate_names)' -d 'the gate; must be given'
complete -c kgate -n '__kgate_in create' -l slots -s k -x -d 'how many may be inside, 1 to 4095 (default: 1, or as it is)'
complete -c kgate -n '__kgate_in create' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in create' -l mode -x -d 'the mode of a gate that is created, in octal; umask does not narrow it, and the owner must be able to read and write (default: 0600)'
complete -c kgate -n '__kgate_in create' -l group -x -a '(__fish_complete_groups)' -d 'share a gate that is created with this group, by its name or number; makes the mode 0660'
complete -c kgate -n '__kgate_in create' -l overtake -x -d 'of a gate that is created: how many may pass the queue between two grants from it (default: 0)'
complete -c kgate -n '__kgate_in create' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in create' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in create' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a status -d 'show who is inside and who waits'
complete -c kgate -n '__kgate_in status' -l name -s n -x -a '(__kgate_names)' -d 'the gate (default: all gates of the directory)'
complete -c kgate -n '__kgate_in status' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gates (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in status' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in status' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in status' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a list -d 'list the gates of a directory'
complete -c kgate -n '__kgate_in list' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gates (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in list' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in list' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in list' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a top -d 'watch gates live'
complete -c kgate -n '__kgate_in top' -l name -s n -x -a '(__kgate_names)' -d 'the gate (default: all gates of the directory)'
complete -c kgate -n '__kgate_in top' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gates (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in top' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in top' -l once -s 1 -d 'print one view and end'
complete -c kgate -n '__kgate_in top' -l sort -x -a 'slot time user command' -d 'order by slot, time, user or command (default: slot)'
complete -c kgate -n '__kgate_in top' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a stats -d 'show how long commands waited and stayed'
complete -c kgate -n '__kgate_in stats' -l name -s n -x -a '(__kgate_names)' -d 'the gate (default: all gates of the directory)'
complete -c kgate -n '__kgate_in stats' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gates (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in stats' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in stats' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in stats' -l prometheus -d 'print the text format of Prometheus'
complete -c kgate -n '__kgate_in stats' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a wait -d 'wait until a gate is idle'
complete -c kgate -n '__kgate_in wait' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in wait' -l pid -s p -x -a '(__kgate_processes)' -d 'until this process has left the gate'
complete -c kgate -n '__kgate_in wait' -l timeout -s t -x -d 'give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d'
complete -c kgate -n '__kgate_in wait' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in wait' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in wait' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a cancel -d 'take a waiter out of the queue'
complete -c kgate -n '__kgate_in cancel' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in cancel' -l pid -s p -x -a '(__kgate_processes)' -d 'the process of kgate or of its command, as `kgate status` shows them'
complete -c kgate -n '__kgate_in cancel' -l all -d 'all that wait'
complete -c kgate -n '__kgate_in cancel' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in cancel' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in cancel' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in cancel' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a pause -d 'let nobody in for a while'
complete -c kgate -n '__kgate_in pause' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in pause' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in pause' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in pause' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in pause' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a resume -d 'let in again after a pause'
complete -c kgate -n '__kgate_in resume' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in resume' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in resume' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in resume' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in resume' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a drain -d 'let nobody in, and wait until nobody is inside'
complete -c kgate -n '__kgate_in drain' -l name -s n -x -a '(__kgate_names)' -d 'the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: "default")'
complete -c kgate -n '__kgate_in drain' -l timeout -s t -x -d 'give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d'
complete -c kgate -n '__kgate_in drain' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in drain' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in drain' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a resize -d 'change the number of slots'
complete -c kgate -n '__kgate_in resize' -l name -s n -x -a '(__kgate_names)' -d 'the gate; must be given'
complete -c kgate -n '__kgate_in resize' -l slots -s k -x -d 'how many may be inside from now on, 1 to 4095; must be given'
complete -c kgate -n '__kgate_in resize' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in resize' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in resize' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in resize' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a remove -d 'remove a gate'
complete -c kgate -n '__kgate_in remove' -l name -s n -x -a '(__kgate_names)' -d 'the gate; must be given'
complete -c kgate -n '__kgate_in remove' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gate (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in remove' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in remove' -l force -s f -d 'even if somebody is inside or waits, or the file is not in order'
complete -c kgate -n '__kgate_in remove' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in remove' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a doctor -d 'examine gates and mend them'
complete -c kgate -n '__kgate_in doctor' -l name -s n -x -a '(__kgate_names)' -d 'the gate (default: all gates of the directory)'
complete -c kgate -n '__kgate_in doctor' -l dir -s d -x -a '(__fish_complete_directories)' -d 'the directory of the gates (default: $KGATE_DIR, or one of your own)'
complete -c kgate -n '__kgate_in doctor' -l on -x -d 'gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON, or gates of this machine)'
complete -c kgate -n '__kgate_in doctor' -l json -d 'print JSON, as kgate(7) describes it'
complete -c kgate -n '__kgate_in doctor' -l help -s h -d 'short help with -h, the whole with --help'
complete -c kgate -n __fish_is_first_arg -a lease -d 'lease slots of a gate between machines for this host'
complete -c kgate -n '__kgate_in lease' -l name -s n -x -a '(__kgate_names)' -d 'the gate; must be given'
complete -c kgate -n '__kgate_in lease' -l slots -s k -x -d 'how many may be inside, 1 to 4095, if the gate is created (default: 1). A gate that exists must have been created with as many, or resized since'
complete -c kgate -n '__kgate_in lease' -l existing -d 'use only a gate that exists; create none'
complete -c kgate -n '__kgate_in lease' -l on -x -d 'the ensemble, zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON); must be given'
complete -c kgate -n '__kgate_in lease' -l quiet -s q -d 'print nothing when the lease begins'
complete -c kgate -n '__kgate_in lease' -l help -s h -d 'short help with -h, the whole with --help'
