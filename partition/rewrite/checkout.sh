# A clone that is not on its origin's newest commit keeps the commit checked out and what came before it.

# git_in FOLDER ARGUMENTS: git on that repository, heeding nobody's configuration but the repository's own
git_in() {
    repository=$1
    shift
    env -i PATH="$PATH" HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_DIR="$repository" GIT_NO_LAZY_FETCH=1 \
        git -c core.hooksPath=/dev/null -c gc.auto=0 -c maintenance.auto=false "$@" 2>>"$work/log"
}

# is_distant FOLDER: whether its history came over the network, be it through another repository here
is_distant() {
    if sed -n 's/^[[:space:]]*url[[:space:]]*=[[:space:]]*//p' "$1/config" 2>/dev/null >"$work/urls.$2" &&
        [ -s "$work/urls.$2" ]; then
        while read -r url; do
            path=${url#file://}
            case $path in
                *://* | [!/.]*:*) return 0 ;;
            esac
            for each in "$path" "$path/.git" "$path.git"; do
                if [ -d "$each/objects" ]; then
                    [ "$2" -lt 4 ] && is_distant "$each" $(($2 + 1)) && return 0
                    continue 2
                fi
            done
            # what it was cloned from is gone
            return 0
        done <"$work/urls.$2"
        return 1
    fi
    [ -f "$1/shallow" ] || grep -qs '://' "$1/FETCH_HEAD" || grep -qs 'clone: from .*://' "$1/logs/HEAD"
}

# heads_of FOLDER: the commit of each work tree
heads_of() {
    git_in "$1" rev-parse -q --verify 'HEAD^{commit}'
    for tree in "$1"/worktrees/*/HEAD; do
        read -r head 2>/dev/null <"$tree" && git_in "$1" rev-parse -q --verify "${head#ref: }^{commit}"
    done
}

leave_no_later_history() {
    find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o -name HEAD -print 2>/dev/null |
        sort >"$work/found"
    : >"$work/repositories"
    while IFS= read -r each; do
        each=${each%/HEAD}
        if [ -d "$each/objects" ] && [ -d "$each/refs" ]; then
            printf '%s\n' "$each" >>"$work/repositories"
        fi
    done <"$work/found"
    : >"$work/cut" && : >"$work/whole"
    while IFS= read -r where <&3; do
        if is_distant "$where" 0; then
            command -v git >/dev/null || stop 1 "$where: git is needed to remove later history, but missing"
            sort_out "$where"
        else
            printf '%s\n' "$where" >>"$work/whole"
        fi
    done 3<"$work/repositories"
    [ -s "$work/cut" ] || return 0
    while IFS= read -r where <&3; do
        cut_history "$where"
    done 3<"$work/cut"
    while IFS= read -r where <&3; do
        while IFS= read -r other <&4; do
            refuse_later "$where" "$other"
        done 4<"$work/cut"
    done 3<"$work/whole"
}

# sort_out FOLDER: into $work/cut where a commit was checked out, else, as it was cloned, into $work/whole
sort_out() {
    heads_of "$1" | sort -u >"$work/heads"
    git_in "$1" for-each-ref --format='%(objectname)' 'refs/remotes/*/HEAD' | sort -u >"$work/newest"
    if [ ! -s "$work/heads" ] || [ "$(git_in "$1" rev-parse --is-bare-repository)" = true ]; then
        printf '%s\n' "$1" >>"$work/whole"
    elif ! git_in "$1" symbolic-ref -q HEAD >/dev/null || ! grep -qFxf "$work/newest" "$work/heads"; then
        printf '%s\n' "$1" >>"$work/cut"
    elif grep -qvFxf "$work/newest" "$work/heads"; then
        stop 1 "$1: one work tree is at the newest commit and another is not: later history cannot be removed"
    else
        printf '%s\n' "$1" >>"$work/whole"
    fi
}

# cut_history FOLDER
cut_history() {
    for each in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD rebase-merge rebase-apply BISECT_LOG; do
        [ ! -e "$1/$each" ] || stop 1 "$1: $each: later history cannot be removed in the middle of that"
    done
    heads_of "$1" | sort -u >"$work/heads"
    ids=$(stat -c %u:%g "$1")

    # references: what is not an ancestor of a checkout, and whatever names the origin
    git_in "$1" for-each-ref --format='%(refname)' >"$work/all" || stop 1 "$1: its references cannot be read"
    while read -r head; do
        git_in "$1" for-each-ref --format='%(refname)' --merged="$head"
    done <"$work/heads" | grep -v '^refs/remotes/' | sort -u >"$work/keep"
    grep -vFxf "$work/keep" "$work/all" | while read -r each; do
        printf 'option no-deref\ndelete %s\n' "$each"
    done >"$work/delete"
    git_in "$1" update-ref --stdin <"$work/delete" || stop 1 "$1: its references cannot be removed"
    rm -rf "$1/refs/remotes" "$1/refs/stash" "$1/logs" "$1"/worktrees/*/logs
    rm -f "$1/FETCH_HEAD" "$1/ORIG_HEAD" "$1"/worktrees/*/FETCH_HEAD "$1"/worktrees/*/ORIG_HEAD
    rm -f "$1/AUTO_MERGE" "$1/info/refs" "$1/gc.log"

    # objects: one pack with what is left; of a partial clone, with what is there of it
    partial=
    for each in "$1"/objects/pack/*.promisor; do
        [ ! -e "$each" ] || partial=--missing=allow-promisor
    done
    # shellcheck disable=SC2086
    git_in "$1" rev-list --objects $partial --all --indexed-objects HEAD >"$work/objects" &&
        pack=$(git_in "$1" pack-objects -q --delta-base-offset "$1/objects/pack/pack" <"$work/objects") ||
        stop 1 "$1: its objects cannot be packed"
    for each in "$1"/objects/pack/*; do
        case $each in
            *"/pack-$pack."*) ;;
            *) rm -f "$each" ;;
        esac
    done
    if [ -n "$partial" ]; then
        : >"$1/objects/pack/pack-$pack.promisor"
    fi
    rm -rf "$1"/objects/[0-9a-f][0-9a-f] "$1/objects/info"
    mkdir "$1/objects/info"
    git_in "$1" prune --expire=now || stop 1 "$1: cannot be pruned"

    # where it came from; a partial clone stays one, or what it lacks would count as damage
    if [ -n "$partial" ]; then
        git_in "$1" config core.repositoryFormatVersion 1 && git_in "$1" config extensions.partialClone origin
    fi
    git_in "$1" remote >"$work/remotes"
    while read -r each; do
        git_in "$1" config --remove-section "remote.$each"
    done <"$work/remotes"
    git_in "$1" config --get-regexp '^branch\..*\.(remote|merge|pushremote)$' >"$work/tracking"
    while read -r each _; do
        git_in "$1" config --unset-all "$each"
    done <"$work/tracking"

    if [ "$ids" != 0:0 ]; then
        chown -hR "$ids" "$1"
    fi
    # shellcheck disable=SC2046
    if [ -n "$(git_in "$1" rev-list --max-count=1 --all --not $(cat "$work/heads"))" ]; then
        stop 1 "$1: later history is still there"
    fi
}

# refuse_later OTHER CUT: a second copy of the history would make cutting the first pointless
refuse_later() {
    for head in $(heads_of "$2"); do
        git_in "$1" cat-file -e "$head^{commit}" || continue
        if [ -n "$(git_in "$1" rev-list --max-count=1 --all --not "$head")" ]; then
            stop 1 "$1 holds later history of $2, where it could be read: remove it in the Dockerfile"
        fi
    done
}
