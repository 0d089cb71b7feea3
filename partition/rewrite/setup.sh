# What a build does, done in a started container: once, as root, in the Dockerfile's order.
# POSIX shell; Debian's dash and BusyBox's ash run it. The steps come last, each with its number and its line.
state=/var/lib/envfold
work=$state/run
baked=/opt/envfold
usual=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
own_path=${PATH:-$usual}
PATH=$usual:$own_path
place=set-up origin=Dockerfile
umask 022
unset CDPATH TAR_OPTIONS POSIXLY_CORRECT
cd / || exit 1

say() { printf 'envfold: %s\n' "$*" >&2; }

# stop STATUS WHY: this container cannot be set up any more
stop() {
    status=$1
    shift
    say "$place: $*"
    if [ -s "$work/log" ]; then
        tail -n 40 "$work/log" >&2
        if [ -d /logs/agent ] && [ ! -e "$state/done" ]; then
            cp "$work/log" /logs/agent/envfold-setup.log 2>/dev/null
        fi
    fi
    printf '%s %s\n' "$status" "$place" >"$state/failed"
    exit "$status"
}

# fields_of PID: its parent and session, and when it started, into $parent, $session and $born
fields_of() {
    read -r line 2>/dev/null <"/proc/$1/stat" || return 1
    # the name before the last parenthesis may hold anything
    set -f
    # shellcheck disable=SC2086
    set -- ${line##*") "}
    set +f
    kind=$1 parent=$2 session=$4 born=${20}
}

# begin DIGEST FOLDER...: where to start; those of the folders that the image lists are there only for the
# container to start in
begin() {
    digest=$1
    shift
    if [ -f "$state/done" ]; then
        [ "$(cat "$state/done")" = "$digest" ] && exit 0
        say "this container was set up for another task; start a new one"
        exit 75
    fi
    if [ "$(id -u)" != 0 ]; then
        say "set-up must run as root"
        exit 77
    fi
    if [ -f "$state/failed" ]; then
        read -r status place <"$state/failed"
        say "$place failed before; start a new container"
        exit "$status"
    fi
    mkdir -p "$state" "$work" && chmod 755 "$state" && chmod 700 "$work" || exit 1
    if [ -f "$state/owner" ]; then
        read -r other since <"$state/owner"
        if fields_of "$other" && [ "$born" = "$since" ] && [ "$other" != "$$" ]; then
            say "is running already, as process $other"
            exit 75
        fi
    fi
    from=0
    if [ -f "$state/step" ]; then
        read -r from kind place theirs <"$state/step"
        if [ "$theirs" != "$digest" ]; then
            say "another task's set-up was begun here; start a new container"
            exit 75
        fi
        if [ "$kind" = run ]; then
            say "$place was interrupted, and what it had done by then is unknown; start a new container"
            exit 75
        fi
        place=set-up
    else
        for each do
            grep -qsFx -e "$each" "$state/folders" && rmdir "$each" 2>/dev/null
        done
    fi
    fields_of $$ && printf '%s %s\n' $$ "$born" >"$state/owner"
    # where the session is another container's, its number says nothing
    env=$(command -v env) || stop 1 "there is no env command"
    own_session=${session#0}
    read -r first 2>/dev/null </proc/1/comm
    case $first in
        sh | bash | dash | ash | busybox | sleep | tail | cat | tini | catatonit | *init) orphans=yes ;;
        *) orphans=no ;;
    esac
    note "$from" safe "$place"
}

# note NUMBER KIND PLACE: an interrupted set-up starts again with this step, unless it is a `run`
note() {
    printf '%s %s %s %s\n' "$1" "$2" "$3" "$digest" >"$work/step" && mv -f "$work/step" "$state/step" ||
        stop 1 "cannot write to $state"
}

# line_of FILE KEY: the line of /etc/passwd or /etc/group with this name or number, into $field1, $field3, ...
line_of() {
    [ -f "$1" ] || return 1
    while IFS=: read -r field1 _ field3 field4 _ field6 _ || [ -n "$field1" ]; do
        if [ "$field1" = "$2" ] || [ "$field3" = "$2" ]; then
            return 0
        fi
    done <"$1"
    return 1
}

is_number() {
    case $1 in
        '' | *[!0-9]*) return 1 ;;
    esac
}

# group_of NAME: its number, into $gid
group_of() {
    if line_of /etc/group "$1"; then
        gid=$field3
    elif is_number "$1"; then
        gid=$1
    else
        stop 1 "there is no group $1"
    fi
}

# user_of USER[:GROUP]: as runc reads USER, into $uid, $gid, $home, $group, and $login or nothing
user_of() {
    group=
    case $1 in
        *:*) group=${1#*:} ;;
    esac
    uid=${1%%:*}
    if line_of /etc/passwd "$uid"; then
        login=$field1 uid=$field3 gid=$field4 home=$field6
    elif is_number "$uid"; then
        login='' gid=0 home=/
    else
        stop 1 "there is no user $uid"
    fi
    if [ -n "$group" ]; then
        group_of "$group"
    fi
}

# own OWNER PATH: as BuildKit reads --chown, where a number alone is the group's as well
own() {
    case $1 in
        0:0) ids=0:0 ;;
        *:*) user_of "${1%%:*}" && group_of "${1#*:}" && ids=$uid:$gid ;;
        *)
            user_of "$1"
            if is_number "$1"; then
                gid=$1 uid=$1
            fi
            ids=$uid:$gid
            ;;
    esac
    chown -h "$ids" "$2"
}

# run NUMBER LINE USER FOLDER VARIABLES -- COMMAND: variables as env(1) takes them; `-` is root
run() {
    [ "$1" -ge "$from" ] || return 0
    number=$1 place=$origin:$2 user=$3 folder=$4
    shift 4
    note "$number" run "$place"
    [ -d "$folder" ] || stop 1 "there is no folder $folder"
    login='' uid=0 gid=0 group='' home=/root
    if [ "$user" = - ]; then
        line_of /etc/passwd 0 && home=$field6
    else
        user_of "$user"
    fi
    become='' through=
    if [ "$uid:$gid:$group" != 0:0: ]; then
        switch=$(command -v setpriv)
        if [ -n "$switch" ] && "$switch" --reuid="$uid" --regid="$gid" --clear-groups true 2>/dev/null; then
            become="$switch --reuid=$uid --regid=$gid --clear-groups"
            if [ -n "$login" ] && [ -z "$group" ]; then
                become="$switch --reuid=$uid --regid=$gid --init-groups"
            fi
        elif [ -n "$login" ] && [ -z "$group" ] && command -v su >/dev/null; then
            through=su
        else
            stop 1 "cannot become the user $user: there is no setpriv, and su cannot do it"
        fi
    fi
    count=$#
    while [ "$count" -gt 0 ]; do
        word=$1
        shift
        if [ "$word" = -- ]; then
            # shellcheck disable=SC2086
            set -- "$@" $become
            while [ "$count" -gt 1 ]; do
                word=$1
                shift
                set -- "$@" "$word"
                count=$((count - 1))
            done
            break
        fi
        set -- "$@" "$word"
        count=$((count - 1))
    done
    set -- "$env" -u SHLVL -u OLDPWD "HOME=$home" "PATH=$own_path" "PWD=$folder" "$env" "$@"
    if [ -n "$through" ]; then
        # shellcheck disable=SC2016
        set -- su -m -s /bin/sh -c 'exec "$@"' -- "$login" sh "$@"
    fi
    running=' '
    for each in /proc/[0-9]*; do
        running="$running${each#/proc/} "
    done
    (cd "$folder" && exec "$@") </dev/null >>"$work/log" 2>&1
    status=$?
    end_leftovers
    rm -rf "$state/scripts"
    [ "$status" = 0 ] || stop "$status" "the command ended with status $status"
    note $((number + 1)) safe "$place"
}

# A build ends every process of a RUN together with it.
end_leftovers() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        found=
        for each in /proc/[0-9]*; do
            pid=${each#/proc/}
            case $running in
                *" $pid "*) continue ;;
            esac
            fields_of "$pid" && [ "$kind" != Z ] || continue
            case $parent:$orphans:$session in
                1:yes:* | *:"$own_session") kill -9 "$pid" 2>/dev/null && found=1 ;;
            esac
        done
        [ -n "$found" ] || return 0
    done
}

# above FOLDER OWNER: make it and the folders above it, as COPY makes those that are missing
above() {
    [ -d "${1:-/}" ] && return 0
    above "${1%/*}" "$2" && mkdir "$1" && own "$2" "$1" && chmod 755 "$1"
}

# put NUMBER LINE FILE MODE OWNER NAME FORM: the input is text, base64, or text to be cut to so many bytes
put() {
    [ "$1" -ge "$from" ] || return 0
    place=$origin:$2 target=$3
    # COPY puts a file into a folder that is there
    if [ -d "$target" ]; then
        target=${target%/}/$6
    fi
    if [ -d "$target" ] && [ ! -L "$target" ]; then
        stop 1 "$target is a folder, and a file should be there"
    fi
    above "${target%/*}" "$5" && rm -f "$target" || stop 1 "cannot make $target"
    case $7 in
        text) cat ;;
        base64) base64 -d ;;
        *) head -c "$7" ;;
    esac >"$target" && own "$5" "$target" && chmod "$4" "$target" || stop 1 "cannot write $target"
}

# folder NUMBER LINE FOLDER MODE OWNER: one that is there keeps its mode and owner where the mode is `-`
folder() {
    [ "$1" -ge "$from" ] || return 0
    place=$origin:$2
    if [ -d "$3" ]; then
        [ "$4" = - ] && return 0
    else
        above "$3" "$5" || stop 1 "cannot make $3"
    fi
    if [ "$4" != - ]; then
        own "$5" "$3/." && chmod "$4" "$3" || stop 1 "cannot change $3"
    fi
}

# link NUMBER LINE PATH TARGET OWNER
link() {
    [ "$1" -ge "$from" ] || return 0
    place=$origin:$2
    if [ -d "$3" ] && [ ! -L "$3" ]; then
        stop 1 "$3 is a folder, and a link should be there"
    fi
    above "${3%/*}" "$5" && rm -f "$3" && ln -s -- "$4" "$3" && own "$5" "$3" || stop 1 "cannot make $3"
}

# aside NUMBER LINE FOLDER KEY: a cache mount hides what is there and starts empty
aside() {
    [ "$1" -ge "$from" ] || return 0
    place=$origin:$2
    [ ! -e "$state/hidden/$4" ] || return 0
    mkdir -p "$state/hidden/$4" && chmod 700 "$state/hidden" || stop 1 "cannot write to $state"
    if [ -d "$3" ]; then
        mv "$3" "$state/hidden/$4/folder" || stop 1 "cannot move $3"
    fi
    above "$3" 0:0 || stop 1 "cannot make $3"
}

# back NUMBER LINE FOLDER KEY: what was written to a cache mount does not stay
back() {
    [ "$1" -ge "$from" ] || return 0
    place=$origin:$2
    [ -e "$state/hidden/$4" ] || return 0
    rm -rf "$3" || stop 1 "cannot remove $3"
    if [ -d "$state/hidden/$4/folder" ]; then
        mv "$state/hidden/$4/folder" "$3" || stop 1 "cannot move $3"
    fi
    rm -rf "$state/hidden/$4"
}

# quoted TEXT: as one word of a shell
quoted() {
    rest=$1 done_so_far=
    while :; do
        case $rest in
            *"'"*) done_so_far="$done_so_far${rest%%"'"*}'\\''" rest=${rest#*"'"} ;;
            *) break ;;
        esac
    done
    printf "'%s'" "$done_so_far$rest"
}

# later NAME=VALUE...: what commands find set once this is done, but for those that were given another value
# than this one was
later() {
    [ ! -e "$work/variables" ] && [ ! -e "$state/variables.sh" ] || return 0
    {
        for each do
            name=${each%%=*}
            case $name in
                # where nothing else says, it is that of each command's user
                HOME) printf 'export HOME=%s\n' "$(quoted "${each#*=}")" && continue ;;
                PATH) was=$own_path ;;
                *) eval "was=\${$name-}" ;;
            esac
            printf '[ "${%s-}" != %s ] || export %s=%s\n' \
                "$name" "$(quoted "$was")" "$name" "$(quoted "${each#*=}")"
        done
        # bash reads one such file for each command
        printf 'if [ "${BASH_ENV-}" = %s ]; then unset BASH_ENV; fi\n' "$state/variables.sh"
        printf 'if [ -n "${BASH_VERSION-}" ] && [ -r "${BASH_ENV-}" ]; then . "$BASH_ENV"; fi\n'
    } >"$work/variables.new" && mv -f "$work/variables.new" "$work/variables" ||
        stop 1 "cannot write to $state"
}

# only FOLDER NAME...: of what the folder holds, keep these
only() {
    place=set-up folder=$1
    shift
    for each in "$folder"/* "$folder"/.[!.]*; do
        case " $* " in
            *" ${each##*/} "*) continue ;;
        esac
        rm -rf "$each" || stop 1 "cannot remove $each"
    done
}

# finish PATH...: leave nothing of this behind, and nothing below these paths
finish() {
    place=set-up
    if [ -e "$work/variables" ]; then
        mv -f "$work/variables" "$state/variables.sh" || stop 1 "cannot write to $state"
    fi
    leave_no_later_history
    for each do
        rm -rf "$each" || stop 1 "cannot remove $each"
    done
    rm -rf "$baked" "$work" "$state/hidden" || stop 1 "cannot remove $baked and $work"
    # what was killed before this line starts again with `finish`
    printf '%s\n' "$digest" >"$state/new" && mv -f "$state/new" "$state/done" ||
        stop 1 "cannot write to $state"
    rm -f "$state/step" "$state/owner" "$state/folders"
}
