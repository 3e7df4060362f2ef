"""Names of ids: one grammar for files, for certificates and for the findings of an audit."""

import pytest

from replearn.tables.kinds import names_ids, names_persons, names_sites

PERSON = "person"
SITE = "site"
ID = "id"
NAMES = {
    "patient": {PERSON},
    "Customer": {PERSON},
    "household": {PERSON},
    "patient_id": {PERSON, ID},
    "user id": {PERSON, ID},
    "CustomerID": {PERSON, ID},
    "memberKey": {PERSON, ID},
    "left.patient_id": {PERSON, ID},
    "family_id": {PERSON, ID},
    "participant-no": {PERSON},
    "customer number": {PERSON},
    "students_nr": {PERSON},
    "patientid": {PERSON},
    "employeecode": {PERSON},
    "store": {SITE},
    "hospital_id": {SITE, ID},
    "device_no": {SITE},
    "id": {ID},
    "UUID": {ID},
    "order_id": {ID},
    "orderId": {ID},
    "row index": {ID},
    "uid": {ID},
    # What counts, describes or only resembles them.
    "customers": set(),
    "n_users": set(),
    "age_of_patient": set(),
    "is_member": set(),
    "family": set(),
    "paid": set(),
    "valid": set(),
    "stored": set(),
    "id_type": set(),
    "number": set(),
    "age": set(),
    "": set(),
    "!": set(),
    7: set(),
    None: set(),
}


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_of_ids(name):
    found = {PERSON: names_persons(name), SITE: names_sites(name), ID: names_ids(name)}
    assert {what for what, is_named in found.items() if is_named} == NAMES[name]
