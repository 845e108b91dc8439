from __future__ import annotations

from setpoint.controllers.job.untracking import Untracking


def test_nothing_is_kept_of_a_job_whose_pods_were_all_seen() -> None:
    known = Untracking()
    known.expect("job", [])
    assert not known._pods
    known.expect("job", ["a", "b"])
    assert known.of("job") == {"a", "b"}
    for pod in ("a", "b", "other"):
        known.seen("job", pod)
    assert not known._pods
