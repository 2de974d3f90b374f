"""Placeholders that nobody filled in, and marks that look like them."""

from __future__ import annotations

import pytest
from scenes import PROVIDERS, Call, Turn, session, tool

from tachograph.core import events
from tachograph.postmortem.analyses import placeholders
from tachograph.postmortem.case import Case, open_case

MAIL = (tool("send_letter", "Send a letter."),)


def letter(system: str | None, user: str, body: str, provider: str = "anthropic", **more: object) -> Case:
    return open_case(
        session(
            Turn(calls=(Call(name="send_letter", given={"address": "Elm Road 4", "body": body}),)),
            Turn(say="The letter is on its way."),
            system=system,
            user=user,
            tools=MAIL,
            provider=provider,
            **more,  # type: ignore[arg-type]
        )
    )


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "mark",
    ["{{tenant_name}}", "${TENANT_NAME}", "<INSERT TENANT NAME>", "[YOUR NAME]", "%(tenant_name)s", "<%= tenant.name %>", "{tenant_name}"],
)
def test_a_mark_that_is_passed_on_as_it_is(provider: str, mark: str) -> None:
    (one,) = placeholders.run(
        letter(f"You write for the landlord.\nThe tenant is {mark}.", "Remind the tenant.", f"Dear {mark}, the rent is due.", provider)
    )
    assert (one.cause, one.first_event, one.confidence) == ("prompt", "evt_0001", 0.95)
    assert mark in one.statement


def test_the_same_in_what_the_user_gave_is_input() -> None:
    (one,) = placeholders.run(letter("You write letters.", "Write to {{first_name}} at Elm Road 4.", "Dear {{first_name}}, …"))
    assert (one.cause, one.first_event) == ("input", "evt_0001")

    def message(tape) -> None:  # type: ignore[no-untyped-def]
        tape.add(events.Message, id="evt_said", content="Write to {{first_name}} at Elm Road 4.", lane="main")

    (one,) = placeholders.run(letter(None, "Write to {{first_name}} at Elm Road 4.", "Dear {{first_name}}, …", before=(message,)))
    assert (one.cause, one.first_event) == ("input", "evt_said")


def test_a_mark_that_is_passed_on_by_its_name() -> None:
    case = open_case(
        session(
            Turn(calls=(Call(name="book_room", given={"guest": "guest name", "nights": 2}),)),
            Turn(say="Booked."),
            user="Book a room for {{guest_name}}.",
            tools=(tool("book_room"),),
        )
    )
    (one,) = placeholders.run(case)
    assert (one.cause, "by its name" in one.statement) == ("input", True)


@pytest.mark.parametrize("value", ["None", "undefined", "NaN"])
def test_a_value_that_is_no_value(value: str) -> None:
    (one,) = placeholders.run(letter("You write letters.", f"Tenant: {value}\nReason: late rent", f"Dear {value}, the rent is due."))
    assert one.cause == "input"


def test_a_limit_that_was_never_filled_in() -> None:
    def refund(line: str) -> Case:
        return open_case(
            session(
                Turn(calls=(Call(name="issue_refund", given={"order": "A-1", "amount": 950}),)),
                Turn(say="Done."),
                user="I want my money back for A-1.",
                system=f"You serve customers.\n{line}",
                tools=(tool("issue_refund"),),
                provider="converse",
            )
        )

    (one,) = placeholders.run(refund("The most that you may refund is {{max_refund}}."))
    assert (one.cause, one.first_event) == ("prompt", "evt_0001")
    assert not list(placeholders.run(refund("The most that you may refund is 1000.")))


@pytest.mark.parametrize(
    ("system", "user", "body"),
    [
        ("Write in the form: Dear {name}, …", "Write to Ana.", "Dear Ana, …"),
        ("Fill the template:\nDear {{name}}, we thank you.", "Write to Ana.", "Dear Ana, we thank you."),
        ("Answer `{{name}}` with the tenant's name.", "Write to Ana.", "Dear Ana"),
        ("You write letters.", "Attachments: None\nWrite to Ana.", "Dear Ana, none of it is due."),
        ("You write letters.", 'Use this: {"name": null, "rent": 900}', "Dear tenant, null and void."),
        ("You write pages.", "Write that {{name}} stands for the name of the tenant.", "{{name}} stands for the name."),
        ("Signed by {{landlord}}.", "Write to Ana.", "Dear Ana, the rent is due."),
        ("You write letters.", "Write to Ana about <b>rent</b> and <IMPORTANT> things.", "Dear Ana: <b>rent</b>"),
    ],
)
def test_marks_that_are_meant_or_had_no_consequence(system: str, user: str, body: str) -> None:
    assert not list(placeholders.run(letter(system, user, body)))


def test_in_code_they_are_code() -> None:
    change = {"path": ".bashrc", "action": "changed", "before": "", "after": "export PATH=${HOME}/bin:$PATH\n", "binary": False, "size": 30}
    case = open_case(
        session(
            Turn(
                calls=(
                    Call(
                        name="write_file",
                        given={"path": ".bashrc", "text": "export PATH=${HOME}/bin:$PATH"},
                        declared="write",
                        changes=(change,),
                    ),
                )
            ),
            Turn(say="`${HOME}/bin` is in the path now."),
            user="Put ${HOME}/bin into the path.",
            tools=(tool("write_file"),),
        )
    )
    assert not list(placeholders.run(case))


def test_a_mark_in_any_place_of_a_sentence_that_is_passed_on() -> None:
    case = open_case(
        session(
            Turn(calls=(Call(name="page", given={"who": "{duty}", "text": "Pump 3 stopped."}),)),
            Turn(say="Paged."),
            system="You watch pumps. When one stops, wake {duty} up at once.",
            user="Pump 3 stopped.",
            tools=(tool("page"),),
        )
    )
    (one,) = placeholders.run(case)
    assert (one.cause, one.first_event, one.confidence) == ("prompt", "evt_0001", 0.95)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "mark",
    [
        "${tenant.displayName}", "${tenants[0].name}", "{{ tenant.name | upper }}", "%(TenantName)s", "<tenant_name>", "<tenant.name>", "[[tenant name]]",
        "<<TenantName>>", "#{tenant.name}", "{tenant.name}", "%%TENANT%%", "@@tenant_name@@", "%s", "{0}",
    ],
)  # fmt: skip
def test_a_mark_of_any_form_that_a_trigger_left(provider: str, mark: str) -> None:
    said = f"Rent due. Tenant: {mark}, mail hans@brix.example. Write to them."
    (one,) = placeholders.run(letter("You write for the landlord.", said, f"Dear {mark}, the rent is due.", provider))
    assert (one.cause, one.first_event) == ("input", "evt_0001")
    assert not list(placeholders.run(letter("You write for the landlord.", said, "Dear tenant, the rent is due.", provider)))


def test_a_mark_in_the_json_of_a_trigger() -> None:
    said = 'New event:\n{"event": "rent_due", "tenant": "${tenant.name}", "street": "Elm Road 4"}'
    (one,) = placeholders.run(letter("You write for the landlord.", said, "Dear ${tenant.name}, the rent is due."))
    assert (one.cause, one.confidence) == ("input", 0.95)


@pytest.mark.parametrize("name", ["save_template", "createWorkflow", "update_campaign"])
def test_what_holds_marks_by_its_nature(name: str) -> None:
    case = open_case(
        session(
            Turn(calls=(Call(name=name, given={"title": "rent", "text": "Dear ${tenant.name}, the rent is due."}),)),
            Turn(say="Saved."),
            user="Keep this for later: Dear ${tenant.name}, the rent is due.",
            tools=(tool(name),),
        )
    )
    assert not list(placeholders.run(case))


@pytest.mark.parametrize(
    "text", ["The fee is 5 %s and 3 %d.", "Use <b>bold</b> and <br> here.", "Set A {1} and B {2, 3}.", "100%% of it ##done## here"]
)
def test_marks_of_other_kinds_that_are_not_passed_on(text: str) -> None:
    assert not list(placeholders.run(letter("You write letters.", text, "Dear Ana, the rent is due.")))
