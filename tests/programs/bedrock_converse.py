# needs: boto3
"""boto3: Converse and ConverseStream."""

import os

import boto3

client = boto3.client(
    "bedrock-runtime",
    region_name="us-east-1",
    endpoint_url=os.environ["BASE"] + "/bedrock",
    aws_access_key_id="a",
    aws_secret_access_key="b",
)
messages = [{"role": "user", "content": [{"text": "hello"}]}]
print(client.converse(modelId="model-a", messages=messages, inferenceConfig={"temperature": 0.5})["output"])
for event in client.converse_stream(modelId="model-a", messages=messages)["stream"]:
    print(event)
