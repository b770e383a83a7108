// SPDX-License-Identifier: Apache-2.0
// The table of commands, options and exit codes.
#include <array>

#include "tools/kgate/exit_codes.hpp"
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

namespace {

using enum option_id;

constexpr std::array options{
    option_row{name, 'n', "name", "NAME",
               "the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit (default: \"default\")"},
    option_row{slots, 'k', "slots", "K",
               "how many may be inside, 1 to 4095, if the gate is created (default: 1). A gate that exists must have "
               "been created with as many, or resized since"},
    option_row{weight, 'w', "weight", "W", "take W slots at once (default: 1)"},
    option_row{timeout, 't', "timeout", "TIME", "give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1h30m, 1d"},
    option_row{try_once, 0, "try", nullptr, "give up at once if no slot is free"},
    option_row{timeout_code, 'E', "timeout-code", "CODE",
               "exit with CODE, 0 to 255, if no slot was to be had (default: 124 after --timeout, 122 with --try)"},
    option_row{time_limit, 0, "time-limit", "TIME",
               "end COMMAND if it runs longer: SIGTERM, and SIGKILL after the grace; exit code 123"},
    option_row{grace, 0, "grace", "TIME",
               "the time between SIGTERM and SIGKILL of --time-limit and --on-loss (default: 10s)"},
    option_row{
        exec, 0, "exec", nullptr,
        "become COMMAND instead of starting it: no process of kgate remains; its end gives the slot back, and so does "
        "closing all descriptors, as daemons do"},
    option_row{existing, 0, "existing", nullptr, "use only a gate that exists; create none"},
    option_row{show_arguments, 0, "show-arguments", nullptr,
               "let others see the arguments of COMMAND, not only its name"},
    option_row{style, 0, "style", "STYLE",
               "pipe, which every make understands, or fifo, for make 4.4 and later (default: pipe)"},
    option_row{fd, 0, "fd", "N", "the descriptor of the shell that keeps the slot"},
    option_row{path, 0, "path", nullptr, "print the file that the descriptor must be opened on, and take nothing"},
    option_row{pid, 'p', "pid", "PID", "the process of kgate or of its command, as `kgate status` shows them"},
    option_row{all, 0, "all", nullptr, "all that wait"},
    option_row{dir, 'd', "dir", "DIR", "the directory of the gate (default: $KGATE_DIR, or one of your own)"},
    option_row{mode, 0, "mode", "MODE",
               "the mode of a gate that is created, in octal; umask does not narrow it, and the owner must be able to "
               "read and "
               "write (default: 0600)"},
    option_row{group, 0, "group", "GROUP",
               "share a gate that is created with this group, by its name or number; makes the mode 0660"},
    option_row{overtake, 0, "overtake", "B",
               "of a gate that is created: how many may pass the queue between two grants from it (default: 0)"},
    option_row{quiet, 'q', "quiet", nullptr,
               "do not show the position in the queue while waiting, and say nothing if no slot was to be had"},
    option_row{json, 0, "json", nullptr, "print JSON, as kgate(7) describes it"},
    option_row{prometheus, 0, "prometheus", nullptr, "print the text format of Prometheus"},
    option_row{force, 'f', "force", nullptr, "even if somebody is inside or waits, or the file is not in order"},
    option_row{once, '1', "once", nullptr, "print one view and end"},
    option_row{sort, 0, "sort", "KEY", "order by slot, time, user or command (default: slot)"},
    option_row{on, 0, "on", "ADDRESS",
               "gates between machines, on the ZooKeeper ensemble zk://HOST[:PORT],...[/PATH][?session=TIME] (default: "
               "$KGATE_ON, or gates of this machine)"},
    option_row{on_loss, 0, "on-loss", "WHAT",
               "with --on, when the slot is lost: term (SIGTERM, and SIGKILL after the grace), kill, or ignore, which "
               "lets the "
               "command go on and passes on its exit code (default: term)"},
    option_row{lease, 0, "lease", nullptr,
               "with --on, take a slot that `kgate lease` has for this host: first come, first served on this host"},
    option_row{help, 'h', "help", nullptr, "short help with -h, the whole with --help"},
};

constexpr const char* name_or_all = "the gate (default: all gates of the directory)";
constexpr const char* name_needed = "the gate; must be given";
constexpr const char* directory_looked_at = "the directory of the gates (default: $KGATE_DIR, or one of your own)";

constexpr std::array run_options{option_use{name,
                                            "the gate; 1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit "
                                            "(default: \"default\"). Given several times: all of these "
                                            "gates or none, each -k and -w for the gate named before it"},
                                 option_use{slots},
                                 option_use{weight},
                                 option_use{timeout},
                                 option_use{try_once},
                                 option_use{timeout_code},
                                 option_use{time_limit},
                                 option_use{grace},
                                 option_use{exec},
                                 option_use{existing},
                                 option_use{show_arguments},
                                 option_use{dir},
                                 option_use{mode},
                                 option_use{group},
                                 option_use{overtake},
                                 option_use{on},
                                 option_use{on_loss},
                                 option_use{lease},
                                 option_use{quiet},
                                 option_use{help}};
constexpr std::array hold_options{
    option_use{name},
    option_use{slots},
    option_use{weight},
    option_use{timeout},
    option_use{try_once},
    option_use{timeout_code},
    option_use{fd},
    option_use{path},
    option_use{existing},
    option_use{dir},
    option_use{mode},
    option_use{group},
    option_use{overtake},
    option_use{on},
    option_use{on_loss,
               "with --on, when the slot is lost, to what has the descriptor open: term (SIGTERM, and SIGKILL "
               "after the grace), kill, or ignore (default: term)"},
    option_use{grace, "the time between SIGTERM and SIGKILL of --on-loss (default: 10s)"},
    option_use{quiet},
    option_use{help}};
constexpr std::array release_options{
    option_use{fd, "the descriptor that keeps the slot; must be given"},
    option_use{on, "may be given as for `kgate hold`; the descriptor tells it by itself"}, option_use{help}};
constexpr std::array jobserver_options{
    option_use{name},     option_use{slots},
    option_use{style},    option_use{timeout},
    option_use{try_once}, option_use{timeout_code},
    option_use{existing}, option_use{show_arguments},
    option_use{dir},      option_use{on},
    option_use{on_loss},  option_use{grace, "the time between SIGTERM and SIGKILL of --on-loss (default: 10s)"},
    option_use{quiet},    option_use{help}};
constexpr std::array create_options{option_use{name, name_needed},
                                    option_use{slots, "how many may be inside, 1 to 4095 (default: 1, or as it is)"},
                                    option_use{dir},
                                    option_use{mode},
                                    option_use{group},
                                    option_use{overtake},
                                    option_use{on},
                                    option_use{json},
                                    option_use{help}};
constexpr std::array status_options{option_use{name, name_or_all}, option_use{dir, directory_looked_at}, option_use{on},
                                    option_use{json}, option_use{help}};
constexpr std::array list_options{option_use{dir, directory_looked_at}, option_use{on}, option_use{json},
                                  option_use{help}};
constexpr std::array top_options{option_use{name, name_or_all},
                                 option_use{dir, directory_looked_at},
                                 option_use{on},
                                 option_use{once},
                                 option_use{sort},
                                 option_use{help}};
constexpr std::array stats_options{option_use{name, name_or_all},
                                   option_use{dir, directory_looked_at},
                                   option_use{on},
                                   option_use{json},
                                   option_use{prometheus},
                                   option_use{help}};
constexpr std::array wait_options{option_use{name},    option_use{pid, "until this process has left the gate"},
                                  option_use{timeout}, option_use{dir},
                                  option_use{on},      option_use{help}};
constexpr std::array cancel_options{option_use{name}, option_use{pid},  option_use{all}, option_use{dir},
                                    option_use{on},   option_use{json}, option_use{help}};
constexpr std::array pause_options{option_use{name}, option_use{dir}, option_use{on}, option_use{json},
                                   option_use{help}};
constexpr std::array drain_options{option_use{name}, option_use{timeout}, option_use{dir}, option_use{on},
                                   option_use{help}};
constexpr std::array resize_options{option_use{name, name_needed},
                                    option_use{slots, "how many may be inside from now on, 1 to 4095; must be given"},
                                    option_use{dir},
                                    option_use{on},
                                    option_use{json},
                                    option_use{help}};
constexpr std::array remove_options{option_use{name, name_needed},
                                    option_use{dir},
                                    option_use{on},
                                    option_use{force},
                                    option_use{json},
                                    option_use{help}};
constexpr std::array doctor_options{option_use{name, name_or_all}, option_use{dir, directory_looked_at}, option_use{on},
                                    option_use{json}, option_use{help}};

constexpr std::array lease_options{
    option_use{name, name_needed},
    option_use{slots},
    option_use{existing},
    option_use{on, "the ensemble, zk://HOST[:PORT],...[/PATH][?session=TIME] (default: $KGATE_ON); must be given"},
    option_use{quiet, "print nothing when the lease begins"},
    option_use{help}};

constexpr std::array run_examples{
    example_row{"kgate run -n demo -k 2 -- sh -c 'echo slot $KGATE_SLOT'",
                "one of at most two at a time, with its number"},
    example_row{"kgate run -n gpu -k 4 -- ./train --device cuda:{slot}", "each job its own device"},
    example_row{"kgate run -n backup --timeout 10m -- rsync -a src/ dst/", "at most ten minutes in the queue"},
    example_row{"kgate run -n build --try -- make || echo busy", "now or not at all"},
    example_row{"kgate run -n gpu -k 4 -n license -k 2 -- ./simulate", "a device and a licence, both or none"},
    example_row{"kgate run -n nightly --time-limit 2h -- ./report", "ended if it runs for more than two hours"},
    example_row{"kgate run --on zk://a,b,c -n licence -k 8 -- ./simulate", "eight at a time on all machines"},
};
constexpr std::array hold_examples{
    example_row{"exec 9<\"$(kgate hold -n gpu -k 4 --path)\"", "in a script: open the descriptor, once"},
    example_row{"slot=$(kgate hold -n gpu --fd 9)", "wait, and keep a slot as long as descriptor 9 is open"},
    example_row{"kgate release --fd 9", "give it back before the script ends"},
};
constexpr std::array release_examples{example_row{"kgate release --fd 9", "give back what descriptor 9 keeps"}};
constexpr std::array jobserver_examples{
    example_row{"kgate jobserver -n build -k 8 -- make", "all makes of this host run eight jobs together"},
    example_row{"kgate jobserver -n build -k 8 --style fifo -- cargo build", "programs that know the newer style"},
};
constexpr std::array create_examples{
    example_row{"kgate create -n gpu -k 4", "before anybody uses it"},
    example_row{"kgate create --dir /srv/gates --group gpu -n gpu -k 4", "shared with a group"},
};
constexpr std::array status_examples{
    example_row{"kgate status -n gpu", "who is inside, who waits"},
    example_row{"kgate status --json | jq '.gates[].waiters | length'", "for scripts"},
};
constexpr std::array list_examples{example_row{"kgate list", "all gates of the directory, a line each"}};
constexpr std::array top_examples{
    example_row{"kgate top -n gpu", "a live view; q ends it"},
    example_row{"kgate top --once", "the same once, for a script or a log"},
};
constexpr std::array stats_examples{
    example_row{"kgate stats -n gpu", "how long commands waited and stayed in the last days"},
    example_row{"kgate stats --prometheus > /var/lib/node_exporter/kgate.prom", "for a monitor"},
};
constexpr std::array wait_examples{
    example_row{"kgate wait -n build && echo done", "until nobody is inside and nobody waits"},
    example_row{"kgate wait -n build --pid 4711 --timeout 1h", "until this one has left, at most an hour"},
};
constexpr std::array cancel_examples{
    example_row{"kgate cancel -n gpu --pid 4711", "one that waits leaves the queue; its exit code is 121"},
    example_row{"kgate cancel -n gpu --all", "all that wait"},
};
constexpr std::array pause_examples{example_row{"kgate pause -n gpu", "those inside go on, nobody new gets in"}};
constexpr std::array resume_examples{example_row{"kgate resume -n gpu", "the next waiters get in"}};
constexpr std::array drain_examples{
    example_row{"kgate drain -n gpu && reboot", "pause, and wait until nobody is inside"}};
constexpr std::array resize_examples{example_row{"kgate resize -n gpu -k 3", "from now on three at a time"}};
constexpr std::array remove_examples{
    example_row{"kgate remove -n gpu", "if nobody uses it"},
    example_row{"kgate remove -n gpu --force", "whoever uses it"},
};
constexpr std::array lease_examples{
    example_row{"kgate lease --on zk://a,b,c -n licence -k 8", "in a unit of this host; ends with SIGTERM"},
    example_row{"kgate run --on zk://a,b,c -n licence --lease -- ./simulate", "a job of this host"},
};
constexpr std::array doctor_examples{example_row{"kgate doctor", "examine and mend all gates of the directory"}};

constexpr std::array commands{
    command_row{
        "run", "[--] COMMAND [ARGUMENT]...", "run a command when a slot is free",
        "Waits until one of the K slots of the gate is free, first come first served, runs COMMAND in it and gives the "
        "slot back when COMMAND ends. The gate is created if there is none, unless --existing is given.\n\n"
        "COMMAND gets KGATE_NAME, KGATE_SLOT (0 to K-1; with --weight a list with commas), KGATE_SLOTS (K) and "
        "KGATE_TOKEN (a number that grows with every slot given) in its environment, and {slot} in an argument is "
        "replaced by the slot. {{slot}} becomes {slot}, and the arguments of a kgate that COMMAND starts by `kgate "
        "run` are left to that one. Standard input, output and error are those of kgate itself. Signals sent to kgate "
        "are passed on, and if COMMAND dies of a signal, so does kgate.\n\n"
        "With several gates the slots are taken in the order of the gates' names, so that no two runs wait for each "
        "other; if one cannot be had, the others are given back. KGATE_NAME, KGATE_SLOT and {slot} are those of the "
        "gate named first, {slot:NAME} and KGATE_SLOT_NAME those of each; in the variable the name is in capitals, "
        "with _ for "
        "all but letters and digits, and two gates for which it would be the same are refused.\n\n"
        "The slot stays taken while kgate or COMMAND lives, so killing kgate alone does not let another one in. It is "
        "free when COMMAND has ended, even if a process that COMMAND left behind lives on.\n\n"
        "With --on the gate is one of a ZooKeeper ensemble, for all machines that use it. The slot can then be lost: "
        "when the ensemble has not heard of kgate for the time-out of the session it lets others in. kgate warns when "
        "the connection is uncertain, ends COMMAND as --on-loss says when the time is over, and exits with 119. If "
        "kgate itself is killed, so is COMMAND: nobody would be left to learn of a loss. With --lease the slot is one "
        "that "
        "`kgate lease` has leased for this host; --try then takes only one that is leased already, and --weight cannot "
        "be used.",
        operand_rule::command, name_rule::several, run_options, run_examples},
    command_row{
        "hold", "", "keep a slot in a script, by a descriptor",
        "Waits for a slot as `kgate run` does, and leaves it to a descriptor of the script: the slot stays taken as "
        "long as that descriptor is open in the script or in anything that inherited it. Prints the slot. The "
        "descriptor must have been opened, for reading, on the file that --path names; that creates the gate if "
        "there is none. Close the descriptor for children that outlive the script (9<&-).\n\n"
        "With --on the slot is one between machines. It belongs to a session, which a process in the background keeps "
        "as long as the descriptor is open. If the slot is lost, that process ends whatever has the descriptor open, "
        "as --on-loss says. If that process itself is killed, the slot goes to others after the time-out of the "
        "session, and `kgate release` tells by the code 119.",
        operand_rule::none, name_rule::optional, hold_options, hold_examples},
    command_row{"release", "", "give back the slot that a descriptor keeps",
                "Gives back what `kgate hold` took. The descriptor stays open and can be used again. Exits with 119 if "
                "it was a slot between machines that had been lost before.",
                operand_rule::none, name_rule::none, release_options, release_examples},
    command_row{
        "jobserver", "[--] COMMAND [ARGUMENT]...", "share the slots between all makes of this host",
        "Runs COMMAND, such as make, with a jobserver whose jobs are slots of the gate: all trees that use the same "
        "gate run at most K jobs together. COMMAND itself counts as one job, and waits for its slot first; a further "
        "slot is taken when all tokens are in use, and given back when one is idle. -j of make itself is left out, "
        "for it would start a jobserver of make's own. When COMMAND has ended, tokens that it or its children did "
        "not return come back when the last of these has ended, whatever killed them; so does the slot of COMMAND "
        "itself if it died of a signal.\n\n"
        "If kgate itself is killed COMMAND goes on, with the tokens it has. All its slots then stay taken until the "
        "last process of its tree has ended. They are kept by a descriptor, of a number from 300 on, that the tree "
        "inherits: a process that closed it does not count then.\n\n"
        "With --on the jobs are slots between machines: each that is taken costs some milliseconds. If the slots are "
        "lost, COMMAND is ended as --on-loss says, and kgate exits with 119; if kgate is killed, so is COMMAND.",
        operand_rule::command, name_rule::optional, jobserver_options, jobserver_examples},
    command_row{
        "create", "", "create a gate",
        "Creates a gate before anybody uses it. If it exists with the same number of slots, or none is given, nothing "
        "is done, and said; with another number it is an error. Options that an existing gate does not take over are "
        "named.",
        operand_rule::none, name_rule::required, create_options, create_examples},
    command_row{
        "status", "", "show who is inside and who waits",
        "Shows one gate, or all gates of the directory: for each participant its slots or position, the process of "
        "kgate, that of the command, the user, since when, and the command. Passages of dead participants are "
        "healed first.",
        operand_rule::none, name_rule::optional, status_options, status_examples},
    command_row{"list", "", "list the gates of a directory",
                "One line for each gate: slots, how many are inside, how many wait.", operand_rule::none,
                name_rule::none, list_options, list_examples},
    command_row{
        "top", "", "watch gates live",
        "A live view of slots, holders and queue. Keys: s, t, u, c order by slot, time, user, command; the arrows, "
        "page keys, j and k move the selection; x cancels the waiter that is selected, T sends SIGTERM and K SIGKILL "
        "to the command of the holder, after a question, if the kernel shows that process to take part in the gate; q "
        "ends. Nobody can be moved: the order of the queue is what a gate promises. On a terminal that cannot move its "
        "cursor, and "
        "elsewhere than on a terminal, one view is printed.\n\n"
        "With --on the keys are those of the order, and q: nobody is selected, and no process of another machine is "
        "signalled; `kgate cancel` takes a waiter out of the queue.",
        operand_rule::none, name_rule::optional, top_options, top_examples},
    command_row{"stats", "", "show how long commands waited and stayed",
                "Passages, time-outs, waiting and running times of the last seven days, of commands that `kgate run` "
                "started. Times are kept in classes that double, so a percentile is right within a factor of two. "
                "With --on these are the commands of this host and user; slots and queue are those of all hosts.",
                operand_rule::none, name_rule::optional, stats_options, stats_examples},
    command_row{"wait", "", "wait until a gate is idle",
                "Returns when nobody is inside the gate and nobody waits, or when one process has left.",
                operand_rule::none, name_rule::optional, wait_options, wait_examples},
    command_row{"cancel", "", "take a waiter out of the queue",
                "The `kgate run` that waits ends with exit code 121 and does not start its command.",
                operand_rule::none, name_rule::optional, cancel_options, cancel_examples},
    command_row{"pause", "", "let nobody in for a while",
                "Those inside stay, those who wait keep their positions, and newcomers queue up, until `kgate resume`.",
                operand_rule::none, name_rule::optional, pause_options, pause_examples},
    command_row{"resume", "", "let in again after a pause", "Ends what `kgate pause` or `kgate drain` began.",
                operand_rule::none, name_rule::optional, pause_options, resume_examples},
    command_row{"drain", "", "let nobody in, and wait until nobody is inside",
                "As `kgate pause`, and returns when the last one has left. The gate stays paused, also if the time-out "
                "or a signal ends the wait.",
                operand_rule::none, name_rule::optional, drain_options, drain_examples},
    command_row{
        "resize", "", "change the number of slots",
        "Takes effect at once, and stands from then on, whatever -k says in `kgate run`. If the number shrinks, "
        "those inside stay, and nobody enters until there is room under the new number.",
        operand_rule::none, name_rule::required, resize_options, resize_examples},
    command_row{"remove", "", "remove a gate",
                "Refused while somebody is inside or waits. With --force those who wait are turned away with exit code "
                "121, and those inside stay inside a gate that nobody else sees. With --on nothing is removed while a "
                "node that is not kgate's is below the gate.",
                operand_rule::none, name_rule::required, remove_options, remove_examples},
    command_row{"doctor", "", "examine gates and mend them",
                "Checks the files of one gate, or of all gates of the directory, explains what it finds, clears away "
                "what dead participants left, and renews a gate whose counts are wrong if nobody uses it.",
                operand_rule::none, name_rule::optional, doctor_options, doctor_examples},
    command_row{
        "lease", "", "lease slots of a gate between machines for this host",
        "Leases slots of a gate of --on as the jobs of this host need them, lends them to those that are started by "
        "`kgate run --on ADDRESS -n NAME --lease` with the same address and name, and gives them back when they are "
        "idle or others wait. The ensemble then sees one session for the host, and a slot goes from job to job on the "
        "host without a request to the ensemble. Jobs and lease must be of the same user; they use $KGATE_DIR or "
        "the user's own directory.\n\n"
        "Prints the name of the gate of this machine that the jobs queue at: `kgate status -n` shows them. Runs until "
        "SIGTERM, SIGINT or SIGHUP, then lends nothing more, waits until the last job has left and ends; a second "
        "signal ends it at once, and its jobs lose their slots. Ends with 1 if the gate is removed, and if this host "
        "has a lease of it already. When the session is lost, so are the slots of the jobs, and it opens another one.",
        operand_rule::none, name_rule::required, lease_options, lease_examples},
};

constexpr std::array exits{
    exit_row{exit_ok, "done; run: the command ended with 0"},
    exit_row{exit_failed,
             "all but run, hold and jobserver: it could not be done, something is wrong, or what was printed could not "
             "be written"},
    exit_row{
        exit_session_lost,
        "run, jobserver --on: the session was lost while the command ran, and with it the slot (not with --on-loss "
        "ignore)"},
    exit_row{exit_usage, "the command line was not understood"},
    exit_row{exit_lost,
             "the gate was removed, damaged or made smaller than the weight, the waiter cancelled, or the slot lost, "
             "before the command could start; wait, drain: the gate was removed while somebody was inside or waited"},
    exit_row{exit_refused, "--try: no slot was free"},
    exit_row{exit_time_limit, "run --time-limit: the command was ended because it ran too long"},
    exit_row{exit_timed_out, "--timeout: no slot became free in time; wait, drain: it took longer"},
    exit_row{exit_error,
             "run, hold, jobserver: kgate itself failed, and the command was not started or no slot is held"},
    exit_row{exit_cannot_run, "run, jobserver: the command was found but could not be started"},
    exit_row{exit_not_found, "run, jobserver: there is no such command"},
    exit_row{exit_signal, "plus n, as a shell shows it: the command was ended by signal n, and so was kgate"},
};

}  // namespace

std::span<const option_row> option_rows() { return options; }
std::span<const command_row> command_rows() { return commands; }
std::span<const exit_row> exit_rows() { return exits; }

const option_row& row_of(option_id id) { return options[static_cast<std::size_t>(id)]; }
const char* help_of(const option_use& use) { return use.help != nullptr ? use.help : row_of(use.id).help; }

}  // namespace kgate::tool
