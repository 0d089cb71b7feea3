"""Make a new dataset repository on the Hub and put a finished dataset there, in one commit.

The token is the library's business: ``HF_TOKEN``, or what ``hf auth login`` stored. It is never an
argument here, and no message shows one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from huggingface_hub import CommitOperationAdd, HfApi, constants, errors

from partition.errors import InputError
from partition.tasks.hub import bars_on_terminals_only

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_TransportError: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # of requests or httpx
_OF_THE_HUB = {".gitattributes"}
"""What the Hub itself puts into a new repository."""


def require_absent(out: str, repository: str, *, endpoint: str | None = None) -> None:
    """Raise unless the Hub knows no such dataset.

    Raises
    ------
    InputError
        It exists, or the Hub cannot be asked.
    """
    with _explained(out, endpoint):
        exists = HfApi(endpoint=endpoint).repo_exists(repository, repo_type="dataset")
    if exists:
        raise InputError(
            f"{out} exists, and a rewrite never overwrites",
            hint="name another repository, or delete this one",
        )


def create(out: str, repository: str, *, private: bool, endpoint: str | None = None) -> None:
    """Make an empty dataset repository.

    Raises
    ------
    InputError
        It exists, or the Hub refuses.
    """
    with _explained(out, endpoint):
        HfApi(endpoint=endpoint).create_repo(repository, repo_type="dataset", private=private, exist_ok=False)


def upload(out: str, repository: str, files: Mapping[str, Path], *, endpoint: str | None = None) -> str:
    """Put files into a repository that holds nothing yet, in one commit, and return the commit.

    Raises
    ------
    InputError
        The repository holds something, or the Hub refuses.
    """
    api = HfApi(endpoint=endpoint)
    with _explained(out, endpoint), bars_on_terminals_only():
        info = api.dataset_info(repository)
        held = {item.rfilename for item in info.siblings or ()} - _OF_THE_HUB
        if held:
            raise InputError(
                f"{out} already holds {min(held)}, and a rewrite never overwrites",
                hint="name another repository",
            )
        operations = [
            CommitOperationAdd(path_in_repo=name, path_or_fileobj=path)
            for name, path in sorted(files.items())
        ]
        commit = api.create_commit(
            repository,
            operations,
            repo_type="dataset",
            commit_message="Rewritten by envfold",
            # somebody else's commit in between makes this one fail
            parent_commit=info.sha,
        )
    return commit.oid


@contextmanager
def _explained(out: str, endpoint: str | None) -> Iterator[None]:
    """Turn what `huggingface_hub` raises into one message with a remedy, and no token in it."""
    again = "run the same command again: what is written stays, and only the upload is repeated"
    try:
        yield
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        hint = {
            401: "set HF_TOKEN to a token that may write there",
            403: "set HF_TOKEN to a token that may write there",
            404: "check ORG; set HF_TOKEN to a token that may write there",
            409: "the repository exists: name another one",
            412: "somebody else wrote to it meanwhile: name another repository",
        }.get(status or 0, again)
        raise InputError(f"{out}: the Hub answers with HTTP status {status}", hint=hint) from None
    except RuntimeError as error:
        # how the library reports a file that did not get through
        raise InputError(f"{out}: not uploaded: {type(error).__name__}", hint=again) from None
    except (_TransportError, ConnectionError) as error:
        raise InputError(
            f"{out}: the Hub at {endpoint or constants.ENDPOINT} cannot be reached ({type(error).__name__})",
            hint=f"check the network and HF_ENDPOINT, then {again}",
        ) from None
