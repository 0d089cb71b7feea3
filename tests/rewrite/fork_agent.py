"""What a fork of Harbor with ``setup_files/`` does, as an agent; imported by Harbor alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harbor.agents.base import BaseAgent

if TYPE_CHECKING:
    from harbor.environments.base import BaseEnvironment


class ForkAgent(BaseAgent):
    """Uploads ``setup_files/``, runs its ``setup.sh`` as root, and then solves the task, or does nothing."""

    def __init__(self, *arguments, solve: bool = True, **options) -> None:
        super().__init__(*arguments, **options)
        self._solve = solve

    @staticmethod
    def name() -> str:
        return "fork"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        task = Path(environment.environment_dir).parent
        await environment.upload_dir(task / "setup_files", "/setup_files")
        done = await environment.exec("sh /setup_files/setup.sh", user="root", timeout_sec=1800)
        if done.return_code:
            raise RuntimeError(f"setup.sh ended with status {done.return_code}: {done.stdout}{done.stderr}")

    async def run(
        self,
        instruction: str,  # noqa: ARG002 - Harbor's signature
        environment: BaseEnvironment,
        context: object,  # noqa: ARG002 - likewise
    ) -> None:
        if self._solve:
            task = Path(environment.environment_dir).parent
            await environment.upload_dir(task / "solution", "/solution")
            await environment.exec("chmod +x /solution/solve.sh", user="root")
            await environment.exec("/solution/solve.sh", timeout_sec=600)
