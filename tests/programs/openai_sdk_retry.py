# needs: openai
"""The SDK's own retries: each attempt is a call."""

import os

import openai

client = openai.OpenAI(api_key="sk-test-not-a-key", base_url=os.environ["BASE"] + "/flaky-openai/v1", max_retries=3)
answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}], temperature=0.5)
print(answer.choices[0].message.content)
