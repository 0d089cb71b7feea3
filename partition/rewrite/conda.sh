# Stands in for conda: whatever environment a script names, it gets the one that this task has.
# POSIX shell, for `source` by bash, dash or zsh, also under `set -eu`.
conda() {
    case ${1-} in
        activate)
            case ":${PATH-}:" in
                *:@VENV@/bin:*) ;;
                *) PATH=@VENV@/bin${PATH:+:$PATH} ;;
            esac
            VIRTUAL_ENV=@VENV@ CONDA_PREFIX=@VENV@ CONDA_DEFAULT_ENV=${2:-@NAME@}
            export PATH VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV
            ;;
        deactivate) unset CONDA_PREFIX CONDA_DEFAULT_ENV ;;
        *) @PREFIX@/bin/conda "$@" ;;
    esac
}
