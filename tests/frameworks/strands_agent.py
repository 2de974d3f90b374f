# needs: strands-agents
"""Strands on Bedrock: an agent loop whose tools run on threads, streamed by the SDK itself."""

import os
import sys
import uuid
from datetime import datetime

from strands import Agent, tool
from strands.models import BedrockModel


@tool
def look_up(service: str) -> str:
    """Look up who owns a service.

    Args:
        service: its name
    """
    return "%s is owned by team-%s (ticket %s)" % (service, service[:3], uuid.uuid4())


@tool
def count_notes() -> int:
    """How many notes there are."""
    return 2


for streaming in (True, False):
    model = BedrockModel(
        model_id="anthropic.claude-sonnet-4-20250514-v1:0", region_name=os.environ["AWS_REGION"], streaming=streaming, temperature=0.1
    )
    agent = Agent(
        model=model, tools=[look_up, count_notes], system_prompt="You answer questions about services. Today is %s." % datetime.now()
    )
    answer = agent(" ".join(sys.argv[1:]) or "Who owns checkout and payments?")
    print("\n", answer.stop_reason, str(answer).strip())
