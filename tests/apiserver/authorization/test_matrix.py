"""Who may do what. The table is written by hand from Kubernetes' documentation of its default roles and of the node authoriser.

A line is `verb resource[/subresource] [name] [?query] : who`, in namespace `team` where the resource has one. Who is not listed
is refused. `all` is everybody, `known` everybody but the anonymous user. Writes are dry runs; what admission says afterwards does
not count here.
"""

from __future__ import annotations

import pytest

from setpoint.api.machinery.user import UserInfo

from .conftest import PEOPLE, World

CORE = """
get pods p1                                            : view edit admin n1 account
get pods p2                                            : view edit admin n2 account
get pods none                                          : view edit admin account
list pods                                              : view edit admin account
list pods ?fieldSelector=spec.nodeName=n1              : view edit admin n1 account
list pods ?fieldSelector=spec.nodeName=n2              : view edit admin n2 account
list pods ?fieldSelector=spec.nodeName!=n2             : view edit admin account
list pods ?fieldSelector=spec.nodeName=n1,status.phase=Running : view edit admin n1 account
list pods ?fieldSelector=metadata.name=p1              : view edit admin n1 account
watch pods ?fieldSelector=spec.nodeName=n1             : view edit admin n1
watch pods                                             : view edit admin
create pods                                            : edit admin n1 n2
update pods p1                                         : edit admin
patch pods p1                                          : edit admin
delete pods gone                                       : edit admin n1 n2
deletecollection pods                                  : edit admin
get pods/log p1                                        : view edit admin
get pods/status p1                                     : view edit admin
patch pods/status p1                                   : n1 n2
update pods/status p1                                  : n1 n2
update pods/ephemeralcontainers p1                     :
update pods/resize p1                                  :
create pods/exec p1                                    : edit admin
get pods/exec p1                                       : edit admin
get pods/attach p1                                     : edit admin
get pods/portforward p1                                : edit admin
get pods/proxy p1                                      : edit admin
create pods/proxy p1                                   : edit admin
create pods/eviction p1                                : edit admin n1 n2
create pods/binding p1                                 :
create bindings                                        :
get secrets s1                                         : edit admin n1
get secrets s2                                         : edit admin n2
get secrets stage1                                     : edit admin
list secrets                                           : edit admin
list secrets ?fieldSelector=metadata.name=s1           : edit admin n1
watch secrets ?fieldSelector=metadata.name=s2          : edit admin n2
create secrets                                         : edit admin
update secrets s1                                      : edit admin
delete secrets gone                                    : edit admin
deletecollection secrets                               : edit admin
get configmaps c1                                      : view edit admin n1
get configmaps c2                                      : view edit admin n2
get configmaps cfg                                     : view edit admin account
list configmaps                                        : view edit admin
list configmaps ?fieldSelector=metadata.name=cfg       : view edit admin
create configmaps                                      : edit admin
patch configmaps c1                                    : edit admin
get persistentvolumeclaims v1                          : view edit admin n1
get persistentvolumeclaims v2                          : view edit admin n2
list persistentvolumeclaims                            : view edit admin
get persistentvolumeclaims/status v1                   : view edit admin
update persistentvolumeclaims/status v1                : n1
get serviceaccounts robot1                             : view edit admin n1
create serviceaccounts/token robot1                    : edit admin n1
create serviceaccounts/token robot2                    : edit admin n2
create serviceaccounts                                 : edit admin
list services                                          : view edit admin n1 n2
create services                                        : edit admin
patch services/status x                                :
get services/proxy x                                   : edit admin
get endpoints x                                        : view edit admin n1 n2
list endpoints                                         : view edit admin
create endpoints                                       :
list events                                            : view edit admin
create events                                          : edit admin n1 n2
get resourcequotas x                                   : view edit admin
create resourcequotas                                  :
list limitranges                                       : view edit admin
update limitranges x                                   :
create replicationcontrollers                          : edit admin
patch replicationcontrollers/scale x                   : edit admin
"""

GROUPS = """
list deployments.apps                                  : view edit admin
create deployments.apps                                : edit admin
deletecollection deployments.apps                      : edit admin
get deployments.apps/scale x                           : view edit admin
patch deployments.apps/scale x                         : edit admin
patch deployments.apps/status x                        :
list controllerrevisions.apps                          : view edit admin
create controllerrevisions.apps                        :
watch statefulsets.apps                                : view edit admin
list jobs.batch                                        : view edit admin
create cronjobs.batch                                  : edit admin
list networkpolicies.networking.k8s.io                 : view edit admin
delete ingresses.networking.k8s.io gone                : edit admin
list poddisruptionbudgets.policy                       : view edit admin
create poddisruptionbudgets.policy                     : edit admin
list horizontalpodautoscalers.autoscaling              : view edit admin
list endpointslices.discovery.k8s.io                   : view edit admin
create endpointslices.discovery.k8s.io                 :
get leases.coordination.k8s.io x                       : edit admin
create leases.coordination.k8s.io                      : edit admin
list roles.rbac.authorization.k8s.io                   : admin
create roles.rbac.authorization.k8s.io                 : admin
create rolebindings.rbac.authorization.k8s.io          : admin
create localsubjectaccessreviews.authorization.k8s.io  : admin n1 n2
get resourceclaims.resource.k8s.io x                   : view edit admin
create resourceclaims.resource.k8s.io                  : edit admin
"""

#: resources without a namespace, and namespaced ones asked for everywhere
CLUSTER = """
list pods                                              :
list pods ?fieldSelector=spec.nodeName=n1              : n1
watch pods ?fieldSelector=spec.nodeName=n2             : n2
list secrets                                           :
list secrets ?fieldSelector=metadata.name=s1           :
list services                                          : n1 n2
list configmaps                                        :
get namespaces team                                    : view edit admin
get namespaces other                                   :
list namespaces                                        :
create namespaces                                      :
delete namespaces team                                 :
update namespaces/finalize team                        :
get nodes n1                                           : n1
get nodes n2                                           : n2
list nodes                                             :
list nodes ?fieldSelector=metadata.name=n1             : n1
watch nodes ?fieldSelector=metadata.name=n2            : n2
create nodes                                           : n1 n2
patch nodes n1                                         : n1 n2
patch nodes/status n1                                  : n1 n2
delete nodes gone                                      :
get nodes/proxy n1                                     :
get persistentvolumes pv1                              : n1
get persistentvolumes pv2                              : n2
list persistentvolumes                                 :
get volumeattachments.storage.k8s.io va1               : n1
list volumeattachments.storage.k8s.io                  :
get csinodes.storage.k8s.io n1                         : n1
patch csinodes.storage.k8s.io n2                       : n2
create csinodes.storage.k8s.io                         : n1 n2
list csinodes.storage.k8s.io                           :
list csidrivers.storage.k8s.io                         : n1 n2
list storageclasses.storage.k8s.io                     :
list runtimeclasses.node.k8s.io                        : n1 n2
list resourceslices.resource.k8s.io                    :
list resourceslices.resource.k8s.io ?fieldSelector=spec.nodeName=n1 : n1
create resourceslices.resource.k8s.io                  : n1 n2
create tokenreviews.authentication.k8s.io              : n1 n2
create subjectaccessreviews.authorization.k8s.io       : n1 n2
create selfsubjectaccessreviews.authorization.k8s.io   : known
create selfsubjectrulesreviews.authorization.k8s.io    : known
create selfsubjectreviews.authentication.k8s.io        : known
create certificatesigningrequests.certificates.k8s.io  : n1 n2
list certificatesigningrequests.certificates.k8s.io    : n1 n2
update certificatesigningrequests.certificates.k8s.io/approval x :
list customresourcedefinitions.apiextensions.k8s.io    :
list clusterroles.rbac.authorization.k8s.io            :
create clusterrolebindings.rbac.authorization.k8s.io   :
list priorityclasses.scheduling.k8s.io                 :
list validatingwebhookconfigurations.admissionregistration.k8s.io :
list flowschemas.flowcontrol.apiserver.k8s.io          :
list apiservices.apiregistration.k8s.io                :
"""

LEASES = """
get leases.coordination.k8s.io n1                      : n1
update leases.coordination.k8s.io n2                   : n2
delete leases.coordination.k8s.io n2                   : n2
create leases.coordination.k8s.io                      : n1 n2
list leases.coordination.k8s.io                        :
"""

PATHS = """
get /healthz                                           : all
get /livez                                             : all
get /readyz                                            : all
get /version                                           : all
get /version/                                          : all
get /healthz/ping                                      :
get /api                                               : known
get /api/v1                                            : known
get /apis                                              : known
get /apis/apps                                         : known
get /openapi/v2                                        : known
get /openapi/v3/apis/apps/v1                           : known
post /api                                              :
get /                                                  :
get /metrics                                           :
get /logs                                              :
get /debug/pprof/                                      :
get /.well-known/openid-configuration                  : account
get /openid/v1/jwks                                    : account
"""

ROOT = UserInfo("root", groups=("system:masters",))
_METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
_SETS = {"all": set(PEOPLE), "known": set(PEOPLE) - {"anonymous"}}
_VERSIONS = {"autoscaling": "v2"}


def request_of(line: str, namespace: str) -> str:
    verb, what, *rest = line.split()
    if what.startswith("/"):
        return f"{verb.upper()} {what}"
    kind, _, subresource = what.partition("/")
    plural, _, group = kind.partition(".")
    name = next((word for word in rest if not word.startswith("?")), "")
    query = next((word[1:] for word in rest if word.startswith("?")), "")
    root = f"/apis/{group}/{_VERSIONS.get(group, 'v1')}" if group else "/api/v1"
    path = "/".join(filter(None, (f"namespaces/{namespace}" if namespace else "", plural, name, subresource)))
    options = [query] if query else []
    options += ["watch=1", "timeoutSeconds=0"] if verb == "watch" else [] if verb in ("get", "list") else ["dryRun=All"]
    return f"{_METHODS[verb]} {root}/{path}{'?' if options else ''}{'&'.join(options)}"


async def differing(world: World, table: str, namespace: str) -> list[str]:
    """Lines whose people are others than the table says."""
    found = []
    for line in table.strip().splitlines():
        question, _, words = line.partition(" :")
        wanted = set().union(*(_SETS.get(word, {word}) for word in words.split()))
        request = request_of(question, namespace)
        may = {who for who, user in PEOPLE.items() if not await world.refused(request, user)}
        if may != wanted:
            found.append(f"{question.strip()}: {sorted(may)}, not {sorted(wanted)}")
    return found


@pytest.mark.parametrize(
    ("table", "namespace"),
    [(CORE, "team"), (GROUPS, "team"), (CLUSTER, ""), (LEASES, "kube-node-lease"), (PATHS, "")],
    ids=["core", "groups", "cluster", "leases", "paths"],
)
async def test_everybody_may_what_kubernetes_says(populated: World, table: str, namespace: str) -> None:
    assert await differing(populated, table, namespace) == []


async def test_rights_in_one_namespace_are_none_in_another(populated: World) -> None:
    for line in (CORE.strip() + GROUPS.rstrip()).splitlines():
        request = request_of(line.partition(" :")[0], "other")
        for who in ("view", "edit", "admin", "account", "nobody", "anonymous"):
            assert await populated.refused(request, PEOPLE[who]), (who, request)


async def test_a_volumes_secret_may_be_read_where_its_claim_is_used(populated: World) -> None:
    assert not await populated.refused("GET /api/v1/namespaces/other/secrets/stage1", PEOPLE["n1"])
    assert await populated.refused("GET /api/v1/namespaces/other/secrets/stage1", PEOPLE["n2"])
    assert await populated.refused("GET /api/v1/namespaces/other/secrets/stage2", PEOPLE["n1"])


async def test_masters_may_everything_whatever_becomes_of_the_roles(populated: World) -> None:
    await populated("DELETE /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin", code=404)
    for line in (CORE.strip() + GROUPS.rstrip()).splitlines():
        question = line.partition(" :")[0]
        assert not await populated.refused(request_of(question, "team"), ROOT)
